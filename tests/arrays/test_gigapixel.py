"""The example of an image larger than memory: small, and with a worker that is killed."""

import numpy as np
import pytest

from teachconv.backends import why_not

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
zarr = pytest.importorskip("zarr")
gigapixel = pytest.importorskip("gigapixel")

pytestmark = pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")


def test_the_plate_has_the_same_values_in_every_part():
    plate = gigapixel.ZonePlate(60)
    whole = plate[:, :, :, :]
    assert whole.shape == (1, 60, 60, 1)
    assert whole[0, 30, 30, 0] == 1  # the middle
    np.testing.assert_array_equal(plate[:, 13:41, 7:9, :], whole[:, 13:41, 7:9])
    # 5 rows and 5 columns from the middle; the table of cosines has 4096 steps
    assert plate[:, 35:36, 25:26, :].item() == pytest.approx(np.cos(np.pi * 50 / 60), abs=2 * np.pi / 4096)


def test_blocks_give_what_the_whole_image_gives():
    """In threads: the cluster of the example is for `slow` tests."""
    size = 300
    _, result = gigapixel.lazy_result(size, 64)
    with dask.config.set(scheduler="threads"):
        values = result.compute()
    plate = gigapixel.ZonePlate(size)
    image = plate[:, :, :, :]
    want = gigapixel.up(gigapixel.down(image), size)
    assert abs(values - want).max() < 1e-5  # another algorithm, chosen for a whole image
    gigapixel.check(values, size)
    wrong = values.copy()
    wrong[0, ::3, ::3] += 1
    with pytest.raises(AssertionError):
        gigapixel.check(wrong, size)
    # the rings that half the size cannot show are grey: no coarse rings in their place
    assert abs(values[0, 2:40, 2:40]).max() < 0.6 < abs(image[0, 2:40, 2:40]).max()


@pytest.mark.slow
@pytest.mark.parametrize("kill", [False, True], ids=["all live", "one is killed"])
def test_the_example_on_two_processes(tmp_path, capsys, kill):
    arguments = ["--size", "1200", "--chunk", "150", "--folder", str(tmp_path)]
    gigapixel.main([*arguments, *(["--kill"] if kill else [])])
    text = capsys.readouterr().out
    assert "peak memory" in text
    assert ("killing worker" in text) == kill
    result = zarr.open_array(str(tmp_path / "result.zarr"), mode="r")
    assert result.nchunks_initialized == result.nchunks == 64
