# answer: two, by registers: 65,536 / (96 * 256) = 2.7. With at most 80 there are three
assert blocks(96, 40, 80) == 2
assert max(registers for registers in range(1, 256) if blocks(registers, 40, 80) == 3) == 80
