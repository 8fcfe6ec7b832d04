def due(arrived, k, s, before):
    return max(0, (arrived + before - k) // s + 1)
