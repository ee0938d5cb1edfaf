"""The engine in real time: Linux's own TCP and Multipath TCP over emulated links.

A **world** is what a run or a shell lives in: two network namespaces ("client" and "server"),
joined by one pair of TUN devices a path, a relay that carries packets between them through the
links of ``crates/link``, and an agent on each side that starts programs and moves data. Everything
in it depends on one process, the first of a PID namespace: when that ends, however it ends, the
kernel takes the rest away, devices and namespaces included. Nothing of the host is changed, so
nothing has to be restored.

* ``world``: starts a world and talks to it, from the host
* ``init``: the first process of a world; ``wiring``: devices, addresses, routes, endpoints
* ``agent``: a process on one side; ``traffic``: source and sink; ``kernel``: state of a socket
* ``check``: what the kernel cannot do; ``engine``: a run to its record; ``gather``: its columns
* ``shell``, ``profiles``, ``control``, ``cli``: ``skyweave shell`` and ``skyweave link``
"""
