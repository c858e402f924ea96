"""Work on many processes or machines with Dask: the connection, tasks on a worker, bulk prediction.

`import swvp` never imports Dask; `connect.py` does when a cluster is used.
"""
