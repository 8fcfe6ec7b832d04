# answer: 3 * 3 * 3 * 16 = 432, on a picture of any size; the dense layer has 5,575 times as many
assert 3 * 3 * 3 * 16 == 432
assert 224 * 224 * 3 * 16 == 2_408_448 == 5575 * 432 + 48
