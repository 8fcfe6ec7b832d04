"""What is right: bounds on the error of every algorithm, and the exact result."""
