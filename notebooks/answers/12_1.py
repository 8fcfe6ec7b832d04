# answer: the number depends on the machine; more than one for each clock needs instructions that do several
rate = macs / seconds["cython row_gemm"]
print(f"{rate / 1e9:.1f} · 10⁹ multiply-adds a second, {rate / 3e9:.1f} for each clock at 3 GHz")
print(f"plain loops: {3e9 * loops:,.0f} clocks for each multiply-add")
assert rate > 100 / loops
