"""The data files of the census of defaults name real callables, real arguments at their real places."""

import importlib
import inspect

import pytest
from paper2code.check import defaults


def find(name):
    parts = name.split(".")
    for at in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:at]))
        except ImportError:
            continue
        for part in parts[at:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"{name} does not exist")


@pytest.mark.parametrize("framework, marks", [("pytorch", "torch"), ("jax", "flax"), ("numpy", "scipy")])
def test_callables_and_arguments_exist(framework, marks):
    pytest.importorskip(marks)
    wrong, looked = [], 0
    for name, arguments in defaults.load(framework).callables.items():
        target = find(name)
        try:
            parameters = list(inspect.signature(target.__init__ if isinstance(target, type) else target).parameters)
        except ValueError:
            continue  # written in C, without a signature
        parameters = parameters[1:] if isinstance(target, type) else parameters
        for argument in arguments:
            looked += 1
            if argument.name not in parameters:
                wrong += [f"{name}.{argument.name}"] if "kwargs" not in parameters else []
            elif argument.at is not None and parameters.index(argument.name) != argument.at:
                wrong.append(f"{name}.{argument.name} is at {parameters.index(argument.name)}")
    assert wrong == [] and looked > 15
