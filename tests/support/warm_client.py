"""A command as `python -m sexplang` runs it, by the process that `warm.py` describes.

python -I -S warm_client.py SOCKET WORD…
"""

import os
import sys
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket


def ask(path, words, descriptors, where, environment):
    """The connection on which the command's status will be told; closed before, it is killed."""
    pairs = [name + b"=" + text for name, text in environment.items()]
    said = [where, str(len(words)).encode(), *[os.fsencode(word) for word in words], *pairs]
    text = b"\0".join(said)
    asking = socket(AF_UNIX, SOCK_STREAM)
    asking.connect(path)
    own = b"".join([each.to_bytes(4, sys.byteorder) for each in descriptors])
    asking.sendmsg([b"%d\n" % len(text)], [(SOL_SOCKET, SCM_RIGHTS, own)])
    asking.sendall(text)
    return asking


def main(path, *words):
    asking = ask(path, words, (0, 1, 2), os.getcwdb(), os.environb)
    status = int(asking.recv(20))
    if status < 0:
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
