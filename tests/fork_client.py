"""`python -I -S fork_client.py SOCKET CODE WORD...`: runs the code in a child of `fork_server.py`.

Imports only what an interpreter contains.
"""

import _signal as signal
import _socket as socket
import marshal
import os
import sys

PASSED_ON = {signal.SIGINT: signal.SIGINT, signal.SIGTERM: signal.SIGTERM, signal.SIGUSR1: signal.SIGKILL}


def pass_on(sent: int, _: object) -> None:
    try:  # noqa: SIM105 (contextlib takes long to import)
        os.kill(child, PASSED_ON[sent])
    except ProcessLookupError:  # it has just ended
        pass


address, code, *words = sys.argv[1:]
signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)  # until there is a child
server = socket.socket(socket.AF_UNIX)
server.connect(address)
request = marshal.dumps((code, words, os.getcwd(), dict(os.environ)))
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
server.sendmsg([len(request).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
server.sendall(request)
child = int.from_bytes(server.recv(8), "big")
for number in PASSED_ON:
    signal.signal(number, pass_on)
signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
status = int.from_bytes(server.recv(8), "big", signed=True)
for number in PASSED_ON:
    signal.signal(number, signal.SIG_IGN)
if status < 0:
    if status != -signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
