"""What happens in a run: place, optimise, prune, partition, execute; and the log of it.

TensorFlow: core/common_runtime/, core/grappler/optimizers/ and python/client/. `session.py` leads through it.
"""
