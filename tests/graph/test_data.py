"""tf.data: the elements are those of TensorFlow; what it recorded is in tensorflow_words/data.py."""

import numpy as np
import pytest

import teachconv.tf as tf

Dataset = tf.data.Dataset


def values(dataset):
    return [np.asarray(element).tolist() for element in dataset]


@pytest.mark.parametrize("buffer", [1, 3, 100])
def test_shuffling_keeps_every_element_and_a_buffer_bounds_how_far_one_comes_forward(buffer):
    dataset = Dataset.from_tensor_slices(np.arange(50)).shuffle(buffer, seed=1)
    found = values(dataset)
    assert sorted(found) == list(range(50))
    assert all(element < place + buffer for place, element in enumerate(found))
    assert (found == list(range(50))) == (buffer == 1)


def test_each_round_has_an_order_of_its_own_unless_that_is_not_wanted():
    numbers = Dataset.from_tensor_slices(np.arange(50))
    again = numbers.shuffle(50, seed=1)
    first, second = values(again), values(again)
    assert first != second
    assert values(numbers.shuffle(50, seed=1)) == first
    assert values(again.repeat(2))[:50] not in (first, second)
    same = numbers.shuffle(50, reshuffle_each_iteration=False)
    assert values(same) == values(same)
    tf.random.set_seed(3)
    one = values(numbers.shuffle(50))
    tf.random.set_seed(3)
    assert values(numbers.shuffle(50)) == one


def test_elements_are_made_when_they_are_asked_for_and_a_cache_makes_them_once():
    made = []
    dataset = Dataset.from_tensor_slices([1, 2, 3]).map(lambda x: made.append(int(x)) or x * 2)
    assert next(iter(dataset)) == 2
    assert made == [1]
    cached = dataset.cache()
    next(iter(cached))  # a round that does not end keeps nothing
    made.clear()
    assert values(cached) == values(cached) == [2, 4, 6]
    assert made == [1, 2, 3]


def test_a_round_without_elements_is_not_repeated_without_end():
    empty = Dataset.from_tensor_slices(np.zeros((0, 2), "f4"))
    assert values(empty.repeat()) == values(empty.batch(2)) == []
    assert len(empty.repeat()) == 0


def test_structures_stay_what_they_are():
    dataset = Dataset.from_tensor_slices(({"a": np.arange(4.0), "b": [[1, 2]] * 4}, np.arange(4)))
    (inputs, labels), *_ = dataset.batch(3)
    assert inputs["a"].numpy().tolist() == [0.0, 1.0, 2.0]
    assert inputs["b"].shape == (3, 2)
    assert labels.dtype == "int64"
    assert isinstance(next(iter(dataset.map(lambda x, y: (x["a"], [y, y])))), tuple)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Dataset.from_tensor_slices(1.0), ValueError, "first axis of one length"),
        (lambda: Dataset.from_tensor_slices(([1, 2], [1])), ValueError, r"first axis.*\(2,\), \(1,\)"),
        (lambda: Dataset.from_tensor_slices(["a"]), (TypeError, ValueError), "got"),
        (lambda: Dataset.from_tensors([1]).batch(0), ValueError, "batch_size must be at least 1; got 0"),
        (lambda: Dataset.from_tensors([1]).shuffle(1.5), TypeError, "buffer_size must be"),
        (lambda: Dataset.from_tensors([1]).cache("file"), ValueError, "filename must be ''"),
        (lambda: len(Dataset.from_tensors([1]).repeat()), TypeError, "The dataset is infinite"),
        (
            lambda: next(
                iter(Dataset.from_tensor_slices([[1, 2], [3, 4]]).map(lambda x: x[: x[0]]).batch(2))
            ),
            tf.errors.InvalidArgumentError,
            r"different shapes; got \[\(1,\), \(2,\)\]",
        ),
    ],
)
def test_messages(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_loop_inside_of_a_function_is_refused():
    dataset = Dataset.from_tensor_slices([1.0, 2.0])

    @tf.function
    def total(x):
        for element in dataset:
            x += element
        return x

    with pytest.raises(TypeError, match="call the tf.function in the loop"):
        total(tf.constant(0.0))
