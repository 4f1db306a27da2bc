"""Kernel settings on the lab's hosts."""

import contextlib
import pathlib
import subprocess
import threading

LABS = pathlib.Path("/run/flowsched-lab")


@contextlib.contextmanager
def on_hosts(*settings):
    """Gives all hosts that labs make meanwhile these settings, such as "net/ipv4/tcp_frto=0"."""
    over = threading.Event()
    watch = threading.Thread(target=_set_all, args=(settings, over))
    watch.start()
    try:
        yield
    finally:
        over.set()
        watch.join()


def _set_all(settings, over):
    """Looks for new hosts until it is over. A host is known by its namespace, since labs use names again."""
    commands = [f"echo {value} > /proc/sys/{path}" for path, value in (setting.split("=") for setting in settings)]
    known = set()
    while commands and not over.wait(0.1):
        for host in LABS.glob("*/host-*"):
            with contextlib.suppress(FileNotFoundError):
                namespace = host.stat().st_ino
                if namespace not in known:
                    subprocess.run(["nsenter", f"--net={host}", "sh", "-ec", "\n".join(commands)], check=host.exists())
                    known.add(namespace)
