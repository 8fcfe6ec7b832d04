# one answer: for positive terms from small to large; here there are both signs, and it hardly matters
for order in (np.argsort(np.abs(products)), np.argsort(-np.abs(products))):
    total = np.float32(0)
    for i in order:
        total += products[i]
    assert abs(float(total) - float(exact)) < bound
