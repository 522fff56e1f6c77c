"""What a notebook may not do while it is run by the gate: reach the network, start processes, write outside its folder.

Run inside the notebook's own process before its first cell; standard library only. It stops accidents and carelessness with a
clear message; against malice there is the private folder, the limits of time and memory and, where the system has them,
namespaces without a network.
"""

import os
import sys

FORBIDDEN = {
    "socket.connect": "reaches the network",
    "socket.getaddrinfo": "reaches the network",
    "socket.bind": "opens a port",
    "subprocess.Popen": "starts a process",
    "os.system": "starts a process",
    "os.posix_spawn": "starts a process",
    "os.exec": "starts a process",
    "os.fork": "starts a process",
    "os.forkpty": "starts a process",
    "pty.spawn": "starts a process",
}
CHANGES = {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "shutil.rmtree", "shutil.move"}


def install(allowed, biggest_file=1 << 28):
    """Forbid, from now on, all of the above; `allowed`: the folders that may be written to."""
    roots = tuple(os.path.realpath(folder) + os.sep for folder in allowed)

    def inside(path):
        if isinstance(path, int):
            return True
        full = os.path.realpath(os.fsdecode(path))
        return full.startswith(("/dev/null", "/dev/shm/", "/proc/self/")) or (full + os.sep).startswith(roots)

    def hook(event, args):
        if event in FORBIDDEN:
            if event == "socket.connect" and isinstance(args[1], (str, bytes)):
                return  # a local socket
            raise PermissionError(f"paper2code: the notebook {FORBIDDEN[event]} ({event}), which it may not")
        if event == "open":
            path, mode, flags = args
            writes = any(letter in (mode or "") for letter in "wax+") or (
                isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            )
            if writes and path is not None and not inside(path):
                raise PermissionError(f"paper2code: the notebook writes outside its folder ({os.fsdecode(path)})")
        elif event in CHANGES and args and not inside(args[0]):
            raise PermissionError(f"paper2code: the notebook changes something outside its folder ({event})")

    try:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (biggest_file, biggest_file))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        pass
    sys.addaudithook(hook)
