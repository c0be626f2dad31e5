import package_that_is_nowhere


def fn(x):
    return package_that_is_nowhere.fn(x)
