"""What two models may differ by where they agree: what their roundings make of it, and no mistake that fades."""

import copy

import numpy as np
import pytest

import teachconv as tc

torch = pytest.importorskip("torch")
nn = torch.nn
IMAGE = np.random.default_rng(0).standard_normal((1, 3, 12, 12)).astype("float32")


def folded(convolution, norm):
    """A convolution that does what both do, with weights that are rounded once."""
    wide = (copy.deepcopy(layer).double().eval() for layer in (convolution, norm))
    return nn.utils.fusion.fuse_conv_bn_eval(*wide).float()


def fading(factor=1.0):
    """Six convolutions with PyTorch's small weights, each with a norm: what the first norm changes fades."""
    torch.manual_seed(0)
    layers = []
    for number in range(6):
        norm = nn.BatchNorm2d(16)
        norm.running_mean.copy_(0.3 * torch.randn(16))
        norm.running_var.copy_(0.1 + torch.rand(16))
        layers += [nn.Conv2d(16 if number else 3, 16, 3, padding=1, bias=False), norm, nn.ReLU()]
    layers[1].running_var *= factor
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5)).eval()


def activations(model):
    """What another program writes of a model: each layer's result."""
    result, arrays = torch.from_numpy(IMAGE), {}
    for name, layer in model.named_children():
        result = layer(result)
        arrays[f"layer{name}"] = result.detach().numpy()
    return arrays


@pytest.mark.parametrize("written", [lambda model: model, activations], ids=["model", "activations"])
def test_a_mistake_that_fades_is_found_where_it_is(written):
    """The bound of the first segment allows what is left of it at the segment's end."""
    report = tc.compare(fading(), written(fading(0.999)), IMAGE)
    assert (report.passed, report.first_parting.a) == (False, "1"), str(report)
    assert tc.compare(fading(), written(fading()), IMAGE).passed


def test_a_factor_that_moves_through_a_relu_is_no_mistake_where_it_fades():
    """The results between have other numbers, and the same meaning."""
    one, other = fading(), fading()
    with torch.no_grad():
        for number in (0, 3, 6):
            other[number + 1].weight *= 0.5
            other[number + 1].bias *= 0.5
            other[number + 3].weight *= 2
    for pair in ((one, other), (other, one)):
        report = tc.compare(*pair, IMAGE)
        assert report.passed, str(report)


@pytest.mark.parametrize(("shift", "passed"), [(100, True), (1000, None)])
def test_roundings_of_large_numbers_beside_a_small_deviation_are_allowed(shift, passed):
    """Both models are right; what they return is farther apart than half of the digits."""
    torch.manual_seed(0)
    convolution, norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)
    with torch.no_grad():
        convolution.weight *= 0.01
        convolution.bias += shift
        result = convolution(torch.from_numpy(IMAGE))
        norm.running_mean.copy_(result.mean((0, 2, 3)))
        norm.running_var.copy_(result.var((0, 2, 3)))
    models = nn.Sequential(convolution, norm).eval(), nn.Sequential(folded(convolution, norm)).eval()
    ours, theirs = (model(torch.from_numpy(IMAGE)).detach().numpy() for model in models)
    assert np.abs(ours - theirs).max() > 2**-12 * np.abs(ours).max()
    for pair in (models, models[::-1]):
        report = tc.compare(*pair, IMAGE)
        assert report.passed is passed, str(report)
        assert report.first_parting is None


def test_a_result_that_resembles_by_chance_is_no_place_of_a_difference():
    """A norm before training changes the sixth digit; what comes in may differ by as much.

    Of its input and its output, the folded convolution's result is as near to the one as to the other.
    """
    torch.manual_seed(0)
    image = result = torch.randn(1, 6, 8, 8)
    plain, short = [], []
    with torch.no_grad():
        for number in range(8):
            convolution, norm = nn.Conv2d(6, 6, 3, padding=1), nn.BatchNorm2d(6).eval()
            made = convolution(result)
            if number % 3 or not number:
                norm.running_mean.copy_(made.mean((0, 2, 3)))
                norm.running_var.copy_(made.var((0, 2, 3)))
                norm.weight.copy_(1 + torch.rand(6))
                norm.bias.copy_(torch.randn(6))
            plain += [convolution, norm, nn.ReLU()]
            short += [folded(convolution, norm), nn.ReLU()]
            result = torch.relu(norm(made))
    for pair in ((plain, short), (short, plain)):
        report = tc.compare(*(nn.Sequential(*layers).eval() for layers in pair), image)
        assert report.passed, str(report)
    short[6].weight.data[0, 0] *= 1.001  # of the fourth convolution
    report = tc.compare(*(nn.Sequential(*layers).eval() for layers in (plain, short)), image)
    assert (report.passed, report.first_parting.b) == (False, "6"), str(report)


class Wide(nn.Module):
    """A model that computes in float64."""

    def __init__(self, model):
        super().__init__()
        self.model = copy.deepcopy(model).double()

    def forward(self, x):
        return self.model(x.double()).float()


def test_a_model_in_double_precision_is_the_same_on_larger_numbers_too():
    """Half of the digits of float64 are as many as all of float32."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.GroupNorm(2, 8), nn.Conv2d(8, 4, 3)).eval()
    report = tc.compare(Wide(model).eval(), model, IMAGE)
    assert report.passed, str(report)


class Shuffled(nn.Module):
    """Channels shuffled in groups, then five softmaxes of large scores, behind which no bound says anything."""

    def __init__(
        self, groups, written=lambda y, groups: y.unflatten(1, groups).transpose(1, 2).flatten(1, 2)
    ):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.groups, self.written = nn.Conv2d(3, 8, 3), groups, written
        self.scores = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=1) for _ in range(5))

    def forward(self, x):
        y = self.written(self.first(x), self.groups)
        for scores in self.scores:
            y = y + torch.softmax(30 * scores(y), 1) * y
        return y.mean((2, 3))


def test_a_place_is_found_where_the_bound_of_the_ends_says_nothing():
    image = np.random.default_rng(0).standard_normal((1, 3, 10, 10)).astype("float32")
    model = Shuffled((2, 4)).eval()
    found = tc.compare(model, Shuffled((4, 2)).eval(), image)
    assert (found.passed, found.first_parting.a, found.first_parting.code) == (False, "transpose", "moved")
    other_words = Shuffled((2, 4), lambda y, groups: y[:, np.arange(8).reshape(groups).T.ravel()]).eval()
    assert tc.compare(model, other_words, image).passed is not False


def test_a_norm_of_numbers_below_the_normal_ones_is_right():
    class Norm(nn.Module):
        def forward(self, x):
            return nn.functional.layer_norm(x, x.shape[3:])

    assert tc.compare(Norm(), Norm(), (1e-39 * IMAGE).astype("float32")).passed
