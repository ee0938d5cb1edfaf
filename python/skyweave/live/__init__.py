"""The engine in real time: Linux's own TCP and Multipath TCP over emulated links.

A **world** is what a run or a shell lives in: two network namespaces ("client" and "server"),
joined by one pair of TUN devices a path, a relay that carries packets between them through the
links of ``crates/link``, and an agent on each side that starts programs and moves data. Everything
in it depends on one process, the first of a PID namespace: when that ends, however it ends, the
kernel takes the rest away, devices and namespaces included. Nothing of the host is changed, so
nothing has to be restored.

* ``world/``: starts a world and talks to it, from the host; devices, addresses, routes, messages
* ``init``: the first process of a world; ``agent``: a process on one side
* ``traffic/``: source and sink, iperf3, multipath QUIC, and the state of a socket (``kernel``)
* ``record/``: what both ends saw, gathered into the columns of a record
* ``check``: what the kernel cannot do; ``engine``: a run to its record
* ``shell``: a shell, or a program, in a world
"""

__all__: list[str] = []
