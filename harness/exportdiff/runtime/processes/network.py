"""Takes the network from this process, if Linux allows that without privileges."""

from __future__ import annotations

import ctypes
import os
import sys

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
"""Flags of unshare(2), from linux/sched.h."""
_SET_DUMPABLE = 4
"""From linux/prctl.h."""


def leave_network() -> bool:
    """Move this process, and those that it starts, to a network without connections.

    Return whether that worked: not on other systems than Linux, nor where an administrator forbids user
    namespaces. Call it while the process has one thread.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None)
    if libc.unshare(_NEW_NET) == 0:  # allowed, for example, for root
        return True
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_NEW_USER | _NEW_NET) != 0:
        return False
    libc.prctl(_SET_DUMPABLE, 1, 0, 0, 0)
    # The same user inside as outside: files keep their owners.
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123  # one write each
            file.write(text)
    return True
