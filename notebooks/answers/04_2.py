# answer: 1, 3, 5 sees 1 + 2 * 9 = 19 cells; of all 15 choices, only this one sees as many without a hole
without_holes = {}
for first in range(1, 6):
    for second in range(first, 6):
        seen = paths([first, second, 5])
        if (seen > 0).all():
            without_holes[first, second, 5] = len(seen)
assert without_holes == {(1, 1, 5): 15, (1, 2, 5): 17, (1, 3, 5): 19}
