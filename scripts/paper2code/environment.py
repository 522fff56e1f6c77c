"""The private environment. Standard library only; imported before anything else."""

from __future__ import annotations


def ensure(*extras: str) -> None:
    """Go on only in an interpreter that has the dependencies of pyproject.toml and of these extras."""
