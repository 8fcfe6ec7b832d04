"""tf.data in TensorFlow 2: the elements of datasets, and how many there are."""

import numpy as np
import tensorflow as tf

Dataset = tf.data.Dataset

# %% slices of a pair of arrays
dataset = Dataset.from_tensor_slices((np.arange(6.0).reshape(3, 2), [7, 8, 9]))
print([(x.numpy().tolist(), int(y), y.dtype.name) for x, y in dataset], len(dataset))

# %% one element
dataset = Dataset.from_tensors([[1, 2], [3, 4]])
print([x.numpy().tolist() for x in dataset], len(dataset))

# %% batches and what remains
dataset = Dataset.from_tensor_slices(np.arange(7))
for rest in (False, True):
    batches = dataset.batch(3, drop_remainder=rest)
    print([x.numpy().tolist() for x in batches], len(batches))

# %% batches of batches
print([x.shape.as_list() for x in Dataset.from_tensor_slices(np.zeros((5, 2))).batch(2).batch(2)])

# %% a function of each element
dataset = Dataset.from_tensor_slices(([1, 2], [3, 4])).map(lambda x, y: (x + y, {"product": x * y}))
print([(int(x), int(y["product"])) for x, y in dataset.prefetch(tf.data.AUTOTUNE)])

# %% rounds
dataset = Dataset.from_tensor_slices([1, 2])
print([int(x) for x in dataset.repeat(3)], len(dataset.repeat(3)), int(dataset.repeat().cardinality()))
print([int(x) for x in dataset.repeat().take(5)], len(dataset.repeat().take(5)))
print(len(dataset.repeat(0)), int(dataset.repeat().batch(2).cardinality()), tf.data.INFINITE_CARDINALITY)

# %% parts
dataset = Dataset.from_tensor_slices(np.arange(5))
for part in (dataset.take(2), dataset.take(-1), dataset.take(9), dataset.skip(3), dataset.skip(-1), dataset.skip(9)):
    print(list(part.as_numpy_iterator()), len(part))

# %% numbered elements
for number, (x, y) in Dataset.from_tensor_slices(([1, 2], [3, 4])).enumerate(start=5):
    print(int(number), number.dtype.name, int(x), int(y))

# %% rounds of batches, and batches of rounds
dataset = Dataset.from_tensor_slices([1, 2, 3])
print([x.numpy().tolist() for x in dataset.batch(2).repeat(2)])
print([x.numpy().tolist() for x in dataset.repeat(2).batch(2)])

# %% a list is a tensor in a source, and a tuple in what a function returns
dataset = Dataset.from_tensor_slices([[1, 2], [3, 4]]).map(lambda x: [x, x[0]])
print([(x.numpy().tolist(), int(y)) for x, y in dataset])

# %% the length of what has no end
len(Dataset.from_tensor_slices([1, 2]).repeat())

# %% slices of what has no axis
Dataset.from_tensor_slices(3)

# %% slices of different lengths
Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))

# %% a batch of nothing
Dataset.from_tensor_slices([1, 2]).batch(0).as_numpy_iterator()
