def tape(program, inputs):
    values = list(inputs)
    for op, i, j in program:
        values.append(values[i] + values[j] if op == "add" else values[i] * values[j])
    grads = [0.0] * len(values)
    grads[-1] = 1.0
    for number in reversed(range(len(program))):
        op, i, j = program[number]
        grad = grads[len(inputs) + number]
        grads[i] += grad if op == "add" else grad * values[j]
        grads[j] += grad if op == "add" else grad * values[i]
    return grads[: len(inputs)]
