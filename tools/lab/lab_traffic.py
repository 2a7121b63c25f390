"""Run as every rank of a lab: sends `FROM>TO:BYTES` flows at once, prints `FROM>TO SECONDS`.

A flow lasts until the receiver has said that it has everything. `*N` repeats it, each time after a
pause and by itself; the median counts.
"""

import os
import socket
import statistics
import sys
import threading
import time

RANK = int(os.environ["RANK"])
RANKS = int(os.environ["WORLD_SIZE"])
ADDRESSES = os.environ["STEPWRIGHT_LAB_ADDRESSES"].split(",")
BARRIER_PORT = int(os.environ["MASTER_PORT"])
PAUSE_S = 0.005
PATIENCE_S = 20


def connect(address: str, port: int) -> socket.socket:
    """A connection to whoever listens there, now or soon."""
    give_up = time.monotonic() + PATIENCE_S
    while True:
        try:
            made = socket.create_connection((address, port), timeout=PATIENCE_S)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return made
        except OSError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.02)


def listen(address: str, port: int) -> socket.socket:
    """A socket that waits for connections, not for ever."""
    made = socket.create_server((address, port), backlog=256)
    made.settimeout(PATIENCE_S)
    return made


def barrier() -> None:
    """Returns when every rank has called it."""
    if RANK > 0:
        connect(os.environ["MASTER_ADDR"], BARRIER_PORT).recv(1)
        return
    server = listen(os.environ["MASTER_ADDR"], BARRIER_PORT)
    others = [server.accept()[0] for _ in range(RANKS - 1)]
    for other in others:
        other.sendall(b"g")


def receive(connection: socket.socket, size: int, times: int) -> None:
    """Takes a flow and says so at its end."""
    block = bytearray(1 << 18)
    for _ in range(times):
        left = size
        while left > 0:
            left -= connection.recv_into(block, min(left, len(block)))
        connection.sendall(b"e")


def send(connection: socket.socket, name: str, size: int, times: int) -> None:
    """Sends a flow and prints how long it took."""
    payload = bytes(size)
    seconds = []
    for _ in range(times):
        time.sleep(PAUSE_S if times > 1 else 0)
        begin = time.perf_counter()
        connection.sendall(payload)
        connection.recv(1)
        seconds.append(time.perf_counter() - begin)
    print(f"{name} {statistics.median(seconds)}", flush=True)


def main() -> None:
    """Opens this rank's flows, waits for all ranks, lets them run."""
    servers = {}
    flows = []
    for index, text in enumerate(sys.argv[1:]):
        name, _, amount = text.partition(":")
        size, _, times = amount.partition("*")
        begin, end = (int(rank) for rank in name.split(">"))
        flows.append((name, begin, end, int(float(size)), int(times or 1), 20000 + index))
        if end == RANK:
            servers[index] = listen(ADDRESSES[end], 20000 + index)
    threads = []
    for index, (name, begin, end, size, times, port) in enumerate(flows):
        if begin == RANK:
            made = connect(ADDRESSES[end], port)
            threads.append(threading.Thread(target=send, args=(made, name, size, times)))
        if end == RANK:
            made = servers[index].accept()[0]
            threads.append(threading.Thread(target=receive, args=(made, size, times)))
    barrier()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
