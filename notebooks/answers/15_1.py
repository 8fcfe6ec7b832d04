predicted = model.predict(x_test, verbose=0).argmax(1)
print([(int(a), int(b)) for a, b in zip(y_test, predicted) if a != b])
assert abs((predicted == y_test).mean() - accuracy) < 1e-6
