"""xarray's DataArrays: dimensions and coordinates of a result, against numbers worked by hand."""

import pickle

import numpy as np
import pytest

import teachconv as tc
from teachconv.data.seeded import make_array
from teachconv.truth import bounds

xr, xp = pytest.importorskip("xarray"), pytest.importorskip("array_api_strict")

DIMS = ("time", "lat", "lon", "band")
LAT, LON = [50.0, 48.0, 46.0, 44.0, 42.0], [0, 10, 20, 30, 40, 50]


def field(array=None, **coords):
    array = make_array((2, 5, 6, 3), "float32", "integers", "x") if array is None else array
    days = np.array(["2026-01-01", "2026-01-03"], "M8[ns]")
    given = {"time": days, "lat": LAT, "lon": LON, "band": ["r", "g", "b"], "run": 7, **coords}
    return xr.DataArray(array, given, DIMS, name="T", attrs={"units": "K"})


def filters(rows=3, cols=3, outs=4, channels=3):
    return make_array((rows, cols, channels, outs), "float32", "integers", "w")


def test_dims_and_coordinates_of_a_strided_padded_output():
    x, w = field(), filters()
    y = tc.conv2d(x, w, 2, "SAME")
    assert np.array_equal(y.values, tc.conv2d(x.values, w, 2, "SAME"))
    assert y.dims == DIMS
    # 5 rows: one zero above, windows at rows -1, 1, 3; 6 columns: none at the left, windows at 0, 2, 4
    assert y.lat.values.tolist() == [50.0, 46.0, 42.0]
    assert y.lon.values.tolist() == [10, 30, 50]
    assert y.lon.dtype == x.lon.dtype
    assert y.time.equals(x.time)
    assert y.run == 7
    assert "band" not in y.coords  # 4 channels of the filters, not the 3 of the input
    assert y.name == "T"
    assert y.attrs == {"units": "K"}


def test_centres_between_cells_are_interpolated_and_extrapolated():
    y = tc.conv2d(field(), filters(2, 4), 1, ((1, 0), (0, 2)))
    # rows: windows -1..0, 0..1, ...; columns: windows of 4 that begin at 0, 1, ..., 4
    assert y.lat.values.tolist() == [51.0, 49.0, 47.0, 45.0, 43.0]
    assert y.lon.values.tolist() == [15.0, 25.0, 35.0, 45.0, 55.0]


def test_dilation():
    y = tc.conv2d(field(), filters(), 1, "VALID", "NHWC", (2, 1))
    assert y.lat.values.tolist() == [46.0]
    assert y.lon.values.tolist() == [10, 20, 30, 40]


def assert_near(got, want, roundings):
    """Assert that float64 results of so many roundings are near enough."""
    allowed = bounds.gamma(roundings, 2.0**-53) * np.abs(want).max()
    assert np.abs(np.asarray(got) - np.asarray(want)).max() <= float(allowed)


def test_coordinates_are_what_a_mean_over_the_window_gives(rng):
    """The mean of a ramp over a window is the coordinate of its centre: the op itself is the check."""
    for _ in range(20):
        rows, cols, *steps = rng.integers(1, 4, 6).tolist()
        strides, dilations = steps[:2], steps[2:]
        lat, lon = np.cumsum([7.0, *[0.5] * 11]), np.cumsum([-3.0, *[2.0] * 12])
        ramps = np.stack(np.broadcast_arrays(lat[:, None], lon), -1)[None]
        x = xr.DataArray(ramps, dims=DIMS, coords={"lat": lat, "lon": lon})
        mean = np.full((rows, cols, 2, 1), 1 / (rows * cols))
        y = tc.depthwise_conv2d(x, mean, strides, "VALID", dilations=dilations)
        assert_near(y.values[0, :, 0, 0], y.lat, rows * cols + 4)  # with the weight and the coordinate
        assert_near(y.values[0, 0, :, 1], y.lon, rows * cols + 4)


def test_channels_first():
    x = field().transpose("time", "band", "lat", "lon")
    y = tc.conv2d(x, filters(), 2, "SAME", "NCHW")
    assert y.dims == ("time", "band", "lat", "lon")
    assert y.lat.values.tolist() == [50.0, 46.0, 42.0]
    assert np.array_equal(y.values, tc.conv2d(x.values, filters(), 2, "SAME", "NCHW"))


def test_a_transposed_op_gives_the_coordinates_back():
    x, w = field(), filters()
    for padding in ("SAME", "VALID", ((2, 1), (0, 1))):
        y = tc.conv2d(x, w, (2, 3), padding)
        back = tc.conv2d_transpose(y, w, x.shape, (2, 3), padding)
        assert_near(back.lat, LAT, 4)  # two interpolations
        assert_near(back.lon, LON, 4)
        assert back.dims == DIMS


def test_filters_name_the_channels():
    w = xr.DataArray(filters(), dims=("ky", "kx", "band", "feature"), coords={"feature": list("abcd")})
    y = tc.conv2d(field(), w)
    assert y.dims == ("time", "lat", "lon", "feature")
    assert y.feature.values.tolist() == list("abcd")
    dw = tc.conv2d_backprop_filter(field(), w.shape, y)
    assert dw.dims == ("filter_rows", "filter_cols", "band", "feature")
    assert dw.band.values.tolist() == ["r", "g", "b"]
    dx = tc.conv2d_backprop_input(field().shape, w, y)
    assert dx.dims == ("time", "lat", "lon", "band")
    assert dx.lat.values.tolist() == LAT
    assert np.array_equal(dx.values, tc.conv2d_backprop_input(field().shape, w.values, y.values))


def test_only_filters_are_named():
    w = xr.DataArray(filters(), dims=("ky", "kx", "band", "feature"))
    assert type(tc.conv2d(field().values, w)) is np.ndarray  # the first array decides
    dx = tc.conv2d_backprop_input((2, 5, 6, 3), w, tc.conv2d(field().values, w))
    assert dx.dims == ("batch", "rows", "cols", "band")


def test_a_depthwise_op_keeps_the_channels():
    y = tc.depthwise_conv2d(field(), filters(outs=1))
    assert y.band.values.tolist() == ["r", "g", "b"]
    assert "band" not in tc.depthwise_conv2d(field(), filters(outs=2)).coords


def test_the_dialects_words():
    x, w = field().transpose("time", "band", "lat", "lon"), filters().transpose(3, 2, 0, 1)
    y = tc.dialects.torch.conv2d(x, w, stride=2, padding=1)
    assert y.dims == ("time", "band", "lat", "lon")
    assert y.lat.values.tolist() == [50.0, 46.0, 42.0]
    assert tc.dialects.torch.conv2d(x[0], w).dims == ("band", "lat", "lon")


def test_coordinates_over_two_axes_and_times():
    rows, cols = np.arange(5.0)[:, None], np.arange(6.0)
    hours = np.datetime64("2026-01-01", "ns") + np.arange(5) * np.timedelta64(1, "h")
    y = tc.conv2d(field(height=(("lat", "lon"), 10 * rows + cols), clock=("lat", hours)), filters(2, 2), 2)
    assert np.array_equal(y.height, 10 * np.array([[0.5], [2.5]]) + [0.5, 2.5, 4.5])
    assert y.clock.values.tolist() == (hours[[0, 2]] + np.timedelta64(30, "m")).tolist()


def test_coordinates_that_are_not_uniform():
    x = field(lat=[0.0, 1.0, 4.0, 9.0, 16.0])
    assert tc.conv2d(x, filters(), 1, "SAME").lat.values.tolist() == [0, 1, 4, 9, 16]
    assert tc.conv2d(x, filters(2, 3)).lat.values.tolist() == [0.5, 2.5, 6.5, 12.5]
    with pytest.raises(ValueError, match=r"the coordinate 'lat' is not uniform.*drop_vars\('lat'\)"):
        tc.conv2d(x, filters(2, 3), 1, "SAME")
    assert "lat" not in tc.conv2d(x.drop_vars("lat"), filters(2, 3), 1, "SAME").coords


def test_labels_are_kept_or_refused():
    x = field(lat=list("abcde"))
    assert tc.conv2d(x, filters(), 2).lat.values.tolist() == ["b", "d"]
    with pytest.raises(ValueError, match=r"the coordinate 'lat', of dtype <U1 and size 5.*drop_vars"):
        tc.conv2d(x, filters(2, 3))
    one = field().isel(lat=[0])
    with pytest.raises(ValueError, match="'lat', of dtype float64 and size 1"):
        tc.conv2d(one, filters(2, 3), 1, "SAME")


def test_arrays_of_other_kinds_inside():
    y = tc.conv2d(xr.DataArray(xp.asarray(field().values), dims=DIMS), filters())
    assert isinstance(y.data, type(xp.asarray(1.0)))


def test_dask_inside_stays_lazy():
    pytest.importorskip("dask.array")
    x = field().chunk({"lat": 2})
    y = tc.conv2d(x, filters(), 2, "SAME")
    assert type(y.data).__module__.startswith("dask")
    assert y.lat.values.tolist() == [50.0, 46.0, 42.0]
    assert np.array_equal(y.compute().values, tc.conv2d(x.values, filters(), 2, "SAME"))
    assert (
        tc.explain(tc.conv2d, x, filters(), at=(0, 1, 1, 2)).value
        == tc.conv2d(x.values, filters())[0, 1, 1, 2]
    )


def test_tools():
    x, w = field(), filters()
    traced = tc.trace(tc.conv2d, x, w)
    assert traced.result.dims == DIMS
    assert tc.explain(tc.conv2d, x, w, at=(0, 1, 1, 2)).value == traced.result.values[0, 1, 1, 2]
    assert tc.diff(tc.conv2d, x, w, backends="numpy", against={"it": traced.result}).passed
    assert tc.check_gradients(tc.conv2d, x, w, cells=2).passed


@pytest.mark.parametrize("labelled", [False, True])
def test_a_plan_gives_the_names_that_the_op_gives(labelled):
    x, w = field(), filters(outs=2)
    if labelled:
        w = xr.DataArray(w, {"c": ["u", "v"]}, ("a", "b", "band", "c"))
    plan = tc.plan(tc.conv2d, w, input_shape=x.shape, strides=2, padding="SAME")
    want = tc.conv2d(x, w, 2, "SAME")
    assert plan(x).identical(want)
    assert pickle.loads(pickle.dumps(plan))(x[:1]).identical(want[:1])
    assert isinstance(plan(x.values), np.ndarray)
    out = np.empty(want.shape, "float32")
    assert plan(x, out) is out
    assert np.array_equal(out, want)
    moved = x.transpose("time", "band", "lat", "lon")
    planes = tc.plan(tc.conv2d, w, input_shape=moved.shape, strides=2, padding="SAME", data_format="NCHW")
    assert planes(moved).identical(tc.conv2d(moved, w, 2, "SAME", "NCHW"))
    # back to the coordinates of the image, by the gradient's plan
    back = tc.plan(tc.conv2d_backprop_input, w, input_shape=x.shape, strides=2, padding="SAME")(want)
    assert np.array_equal(back, tc.conv2d_backprop_input(x.shape, w, want, 2, "SAME"))
    assert back.lat.equals(x.lat)


def test_refused():
    x, w = field(), filters()
    with pytest.raises(TypeError, match="out must be an array without names; got a DataArray: out.data"):
        tc.conv2d(x, w, out=tc.conv2d(x, w))
    with pytest.raises(ValueError, match="two have one name: rename"):
        tc.conv2d(x, xr.DataArray(w, dims=("a", "b", "band", "lat")))
    with pytest.raises(TypeError, match="input must be an array or nested lists"):
        tc.conv2d(x.to_dataset(), w)


def test_no_images():
    x = field(age=(("time", "lat"), np.ones((2, 5)))).isel(time=slice(0))
    y = tc.conv2d(x, filters(2, 2))
    assert y.shape == (0, 4, 5, 4)
    assert y.age.shape == (0, 4)
