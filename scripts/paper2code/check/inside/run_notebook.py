"""Run a notebook from start to end and write it with its outputs. Started by the gate in the environment of the notebook.

    python run_notebook.py NOTEBOOK OUT SCRATCH MOST_BYTES

The kernel is this interpreter's own, started here; the guard is its first cell and is not kept. Prints one JSON line with what
failed: {"cell", "name", "value", "traceback"} or {}.
"""

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


class TooMuch(Exception):
    pass


def main():
    book_path, out, scratch, most = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve(), int(sys.argv[4])
    import nbformat
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    written = 0

    class Client(NotebookClient):
        def process_message(self, msg, cell, cell_index):
            nonlocal written
            written += len(json.dumps(msg.get("content", {}), default=str))
            if written > most:
                raise TooMuch
            return super().process_message(msg, cell, cell_index)

    book = nbformat.read(book_path, as_version=4)
    guard = (
        f"import sys; sys.path.insert(0, {str(HERE)!r}); import guard; sys.path.pop(0); "
        f"guard.install([{str(book_path.parent.parent)!r}, {str(scratch)!r}]); del guard, sys"
    )
    book.cells.insert(0, nbformat.v4.new_code_cell(guard))
    manager = AsyncKernelManager(
        transport="ipc" if os.name == "posix" else "tcp", ip=str(scratch / "k") if os.name == "posix" else "127.0.0.1"
    )
    manager._kernel_spec = KernelSpec(
        argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], display_name="Python 3", language="python"
    )
    client = Client(
        book,
        km=manager,
        timeout=None,
        allow_errors=False,
        resources={"metadata": {"path": str(book_path.parent)}},
        record_timing=False,
        force_raise_errors=True,
    )
    failure = {}
    at = -1
    try:
        client.execute(cleanup_kc=True)
    except CellExecutionError as problem:
        at = next((n for n, cell in enumerate(book.cells) if any(o.get("output_type") == "error" for o in cell.get("outputs", []))), -1)
        failure = {"name": problem.ename, "value": problem.evalue, "traceback": problem.traceback}
    except TooMuch:
        failure = {"name": "TooMuchOutput", "value": f"more than {most:,} bytes of output", "traceback": ""}
    except DeadKernelError as problem:
        failure = {"name": "DeadKernel", "value": f"the kernel died ({problem})", "traceback": ""}
    if failure and at < 0:
        at = max((n for n, cell in enumerate(book.cells) if cell.get("execution_count") or cell.get("outputs")), default=0)
    del book.cells[0]
    count = 0
    for cell in book.cells:
        if cell.cell_type == "code" and cell.get("execution_count"):
            count += 1
            cell["execution_count"] = count
            for output in cell.outputs:
                if "execution_count" in output:
                    output["execution_count"] = count
    if failure:
        failure["cell"] = max(at - 1, 0)
    out.write_text(nbformat.writes(book) + "\n", encoding="utf-8")
    print(json.dumps(failure), flush=True)


if __name__ == "__main__":
    main()
