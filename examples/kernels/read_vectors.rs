// Reads exported vectors, runs a kernel on each, and writes results/ID.bin for `vectors judge`:
//   rustc -O read_vectors.rs && ./read_vectors DIRECTORY      (vectors of NCHW and OIHW)
// The table comes from vectors.h, whose lines are easier to read without a library than index.json.
use std::{env, fs, io};

/// A call of conv2d: shapes, [rows, cols] of strides, pads before and dilations, and groups.
struct Call {
    first: Vec<usize>,
    second: Vec<usize>,
    result: Vec<usize>,
    strides: Vec<i64>,
    pads: Vec<i64>,
    dilations: Vec<i64>,
    groups: usize,
}

fn conv2d(c: &Call, x: &[f32], w: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
    let (depth, group) = (c.second[1], c.second[0] / c.groups);
    let mut y = Vec::new();
    for n in 0..c.result[0] {
        for o in 0..c.result[1] {
            for cell in 0..c.result[2] * c.result[3] {
                let (r, q) = ((cell / c.result[3]) as i64, (cell % c.result[3]) as i64);
                let mut sum = bias.map_or(0.0, |b| b[o]);
                for tap in 0..depth * c.second[2] * c.second[3] {
                    let (b, a) = ((tap % c.second[3]) as i64, (tap / c.second[3] % c.second[2]) as i64);
                    let channel = n * c.first[1] + o / group * depth + tap / (c.second[2] * c.second[3]);
                    let row = r * c.strides[0] - c.pads[0] + a * c.dilations[0];
                    let col = q * c.strides[1] - c.pads[1] + b * c.dilations[1];
                    if row >= 0 && row < c.first[2] as i64 && col >= 0 && col < c.first[3] as i64 {
                        let at = (channel * c.first[2] + row as usize) * c.first[3] + col as usize;
                        sum += x[at] * w[o * depth * c.second[2] * c.second[3] + tap];
                    }
                }
                y.push(sum);
            }
        }
    }
    y
}

fn main() -> io::Result<()> {
    let directory = env::args().nth(1).unwrap_or(".".to_string());
    let (data, table) = (fs::read(format!("{directory}/data.bin"))?, fs::read_to_string(format!("{directory}/vectors.h"))?);
    fs::create_dir_all(format!("{directory}/results"))?;
    let mut ran = 0;
    let entries = table.lines().filter(|line| line.starts_with("    {\""));
    for (id, line) in entries.enumerate() {
        // {"name", "op", "dtype", {..}, {..}, {..}, {..}, {..}, {..}, groups, {..}}
        let words: Vec<&str> = line.split('"').collect();
        if words[3] != "conv2d" || words[5] != "float32" {
            continue;
        }
        let fields: Vec<Vec<i64>> = words[6]
            .split(|letter| letter == '{' || letter == '}')
            .map(|part| part.split(',').filter_map(|number| number.trim().parse().ok()).collect())
            .filter(|part: &Vec<i64>| !part.is_empty())
            .collect();
        let sizes = |field: usize| fields[field].iter().map(|&n| n as usize).collect::<Vec<_>>();
        let floats = |from: usize, count: usize| -> Vec<f32> {
            data[from..from + 4 * count].chunks(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
        };
        let call = Call {
            first: sizes(0), second: sizes(1), result: sizes(2), strides: fields[3].clone(), pads: fields[4].clone(),
            dilations: fields[5].clone(), groups: fields[6][0] as usize,
        };
        let at = &fields[7];
        let (x, w) = (floats(at[0] as usize, call.first.iter().product()), floats(at[1] as usize, call.second.iter().product()));
        let bias = (at[2] >= 0).then(|| floats(at[2] as usize, call.result[1]));
        let y = conv2d(&call, &x, &w, bias.as_deref());
        let bytes: Vec<u8> = y.iter().flat_map(|cell| cell.to_le_bytes()).collect();
        fs::write(format!("{directory}/results/{id}.bin"), bytes)?;
        ran += 1;
    }
    println!("{ran} results");
    Ok(())
}
