# failed: relu-forgotten
# points: 0
def block(mesh, X, W1, W2):
    return X @ W1 @ W2
