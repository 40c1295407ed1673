#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""client.py PORT COUNT COMMAND: submits a job COUNT times to gearmand, with {} in COMMAND replaced
by its number, and prints each answer behind this number; to stderr how many
were answered a second."""
import socket
import struct
import sys
import time

SUBMIT_JOB, JOB_CREATED, WORK_COMPLETE, WORK_FAIL = 7, 8, 13, 14


def packets(connection):
    data = b''
    while True:
        while len(data) < 12 or len(data) < 12 + struct.unpack('>I', data[8:12])[0]:
            more = connection.recv(1 << 16)
            if not more:
                return
            data += more
        kind, size = struct.unpack('>II', data[4:12])
        yield kind, data[12:12 + size]
        data = data[12 + size:]


port, count, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
connection = socket.create_connection(('127.0.0.1', port))
answers = packets(connection)
numbers = {}
begun = time.monotonic()
submitted = answered = created = 0
while answered < count:
    while submitted < count and submitted - answered < 1000:
        body = b'check\0\0' + command.replace('{}', str(submitted)).encode()
        connection.sendall(b'\0REQ' + struct.pack('>II', SUBMIT_JOB, len(body)) + body)
        submitted += 1
    kind, data = next(answers)
    handle, _, text = data.partition(b'\0')
    if kind == JOB_CREATED:
        numbers[handle] = created
        created += 1
    elif kind in (WORK_COMPLETE, WORK_FAIL):
        answered += 1
        print(numbers[handle], text.decode().strip() if kind == WORK_COMPLETE else 'failed', flush=True)
print(f'{count / (time.monotonic() - begun):.0f} a second', file=sys.stderr)
