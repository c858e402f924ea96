"""Campaigns of damaged files and killed runs, seeded so that each round can be repeated.

    python -m tests.fuzz --minutes 60
    python -m tests.fuzz --only models --seed 20261116 --round 1234

A campaign is a module with `new(folder)`, which makes a function `round(rng)`: it does one thing that must not hurt, and
returns what went wrong, or None. What users may be told is an `InputError` of one line; all else is a failure.
"""
