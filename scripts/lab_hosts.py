"""Kernel settings on the lab's hosts."""

import contextlib
import pathlib
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

# Each lab has a folder of its own there, with a link to the namespace of each host.
LABS = pathlib.Path("/run/flowsched-lab")


@contextlib.contextmanager
def on_hosts(*settings):
    """Gives every host that a lab makes meanwhile these settings, such as "net/ipv4/tcp_frto=0"."""
    over = threading.Event()
    with ThreadPoolExecutor() as pool:
        watch = pool.submit(_set_all, settings, over)
        try:
            yield
        finally:
            over.set()
        watch.result()


def _set_all(settings, over):
    """Looks for new hosts until it is over."""
    commands = [f"echo {value} > /proc/sys/{path}" for path, value in (setting.split("=") for setting in settings)]
    known = set()
    while commands and not over.wait(0.1):
        for host in set(LABS.glob("*/host-*")) - known:
            done = subprocess.run(["nsenter", f"--net={host}", "sh", "-ec", "\n".join(commands)])
            if done.returncode != 0 and host.exists():
                raise RuntimeError(f"{host} was not given the settings {', '.join(settings)}")
            known.add(host)
