"""How results are judged: bounds on the error of every algorithm, and sums in float64."""
