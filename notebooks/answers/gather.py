def gather(x, w, s, y):
    total = 0.0
    for j in range(len(w)):
        m, rest = divmod(y - j, s)
        if rest == 0 and 0 <= m < len(x):
            total += x[m] * w[j]
    return total
