pytest_plugins = ["teachconv.testing.plugin"]
