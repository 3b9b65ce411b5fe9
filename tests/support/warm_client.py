"""A command as `python -m sexplang` runs it, by the process that `warm.py` describes.

python -I -S warm_client.py SOCKET WORD…
"""

import os
import sys
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket

path, *words = sys.argv[1:]
pairs = [name + b"=" + text for name, text in os.environb.items()]
said = b"\0".join(
    [os.getcwdb(), str(len(words)).encode(), *[os.fsencode(word) for word in words], *pairs]
)
warm = socket(AF_UNIX, SOCK_STREAM)
warm.connect(path)
own = b"".join([each.to_bytes(4, sys.byteorder) for each in (0, 1, 2)])
warm.sendmsg([b"%d\n" % len(said)], [(SOL_SOCKET, SCM_RIGHTS, own)])
warm.sendall(said)
status = int(warm.recv(20))
if status < 0:
    os.kill(os.getpid(), -status)
os._exit(status)
