use super::*;

fn sample(messages: f64, bytes: f64, time_us: f64) -> Sample {
    Sample { source: "here".to_owned(), messages, bytes, time_us }
}

fn line(startup: f64, byte: f64) -> Vec<Sample> {
    (0..16)
        .map(|i| f64::from(1_u32 << i))
        .map(|bytes| sample(1.0, bytes, startup + byte * bytes))
        .collect()
}

fn near(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() < within, "{found}, expected {expected}");
}

#[test]
fn exact_times_give_their_costs() {
    let found = fit(&line(12.5, 0.002)).unwrap();
    near(found.costs.startup_us.value, 12.5, 1e-6);
    near(found.costs.byte_us.value, 0.002, 1e-6);
    assert_eq!(found.rendezvous, None);
    assert!(found.fitted.iter().all(|(_, weight)| *weight > 0.99));
}

/// The bytes of a sample of a collective are the sum of the longest message of each step.
#[test]
fn consecutive_messages_are_counted() {
    let samples: Vec<Sample> =
        [(3.0, 300.0), (7.0, 70_000.0), (15.0, 15.0), (4.0, 1e6), (2.0, 2e5), (31.0, 31e3)]
            .map(|(steps, bytes)| sample(steps, bytes, 8.0 * steps + 0.01 * bytes))
            .into();
    let found = fit(&samples).unwrap();
    near(found.costs.startup_us.value, 8.0, 1e-6);
    near(found.costs.byte_us.value, 0.01, 1e-6);
}

/// A fifth of the times are wrong: three to ten times too long.
#[test]
fn outliers_are_left_out() {
    let mut samples = line(12.5, 0.002);
    samples.extend(line(12.5, 0.002));
    for (i, far) in [(3, 3.0), (9, 10.0), (14, 5.0), (17, 4.0), (22, 8.0), (30, 3.0)] {
        samples[i].time_us *= far;
    }
    let found = fit(&samples).unwrap();
    near(found.costs.startup_us.value, 12.5, 1e-4);
    near(found.costs.byte_us.value, 0.002, 1e-4);
    let left_out: Vec<usize> = (0..samples.len()).filter(|i| found.fitted[*i].1 == 0.0).collect();
    assert_eq!(left_out, [3, 9, 14, 17, 22, 30]);
}

/// The eager protocol is used below 4096 bytes, and the rendezvous protocol from there on.
#[test]
fn the_size_at_which_costs_change_is_found() {
    let samples: Vec<Sample> = (0..20)
        .map(|i| f64::from(1_u32 << i))
        .map(|bytes| {
            sample(
                1.0,
                bytes,
                if bytes < 4096.0 { 2.0 + 0.001 * bytes } else { 9.0 + 0.0004 * bytes },
            )
        })
        .collect();
    let found = fit(&samples).unwrap();
    let (from, long) = found.rendezvous.unwrap();
    assert_eq!(from, 4096.0);
    near(found.costs.startup_us.value, 2.0, 1e-6);
    near(found.costs.byte_us.value, 0.001, 1e-6);
    near(long.startup_us.value, 9.0, 1e-6);
    near(long.byte_us.value, 0.0004, 1e-6);
}

/// The closed form minimises the sum of (1 - a u - b v)^2, with u = 1/t and v = s/t.
#[test]
fn noisy_times_match_the_closed_form() {
    let data = [
        (100.0, 11.0),
        (1000.0, 19.8),
        (3000.0, 40.4),
        (7000.0, 79.2),
        (15000.0, 161.6),
        (31000.0, 316.8),
    ];
    let samples: Vec<Sample> = data.map(|(bytes, time)| sample(1.0, bytes, time)).into();
    let refs: Vec<&Sample> = samples.iter().collect();
    let (CostPair([a, b]), errors, freedom) = least_squares(&refs, &[1.0; 6]).unwrap();
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| data.iter().map(|(s, t)| f(1.0 / t, s / t)).sum::<f64>();
    let (uu, uv, vv, u, v) = (
        sum(&|u, _| u * u),
        sum(&|u, v| u * v),
        sum(&|_, v| v * v),
        sum(&|u, _| u),
        sum(&|_, v| v),
    );
    let determinant = uu * vv - uv * uv;
    let expected = [(u * vv - v * uv) / determinant, (v * uu - u * uv) / determinant];
    near(a, expected[0], 1e-9);
    near(b, expected[1], 1e-9);
    let rest = sum(&|u, v| (1.0 - expected[0] * u - expected[1] * v).powi(2)) / 4.0;
    near(errors[0].unwrap(), (rest * vv / determinant).sqrt(), 1e-6);
    near(errors[1].unwrap(), (rest * uu / determinant).sqrt(), 1e-6);
    assert_eq!(freedom, 4.0);
    let costs = fit(&samples).unwrap().costs;
    let (from, to) = costs.byte_us.interval.unwrap();
    assert!(
        from < costs.byte_us.value && costs.byte_us.value < to && to - from < 0.001,
        "{from} to {to}"
    );
}

#[test]
fn insufficient_samples_are_refused() {
    assert_eq!(
        fit(&[sample(1.0, 8.0, 1.0)]).unwrap_err(),
        "times of 1 sizes of messages, expected at least 3"
    );
    let nothing = fit(&[sample(1.0, 8.0, 0.0)]).unwrap_err();
    assert!(nothing.contains("expected a time above 0"), "{nothing}");
    // These times grow faster than the bytes, so the best start-up time would be negative.
    let found = fit(&[
        sample(1.0, 10.0, 0.9),
        sample(1.0, 100.0, 9.9),
        sample(1.0, 1000.0, 101.0),
        sample(1.0, 1e4, 1000.0),
    ])
    .unwrap();
    assert_eq!(found.costs.startup_us.value, 0.0);
}

#[test]
fn ping_pongs_are_read_from_all_formats() {
    let osu = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n1                       1.20\n1024                    2.50\n";
    let imb = "# Benchmarking PingPong\n# #processes = 2\n       #bytes #repetitions      t[usec]   Mbytes/sec\n            0         1000         1.10         0.00\n         1024         1000         2.50       400.00\n\n# Benchmarking Alltoall\n 8 1000 1 2 3\n";
    for (text, sizes) in
        [(osu, [1.0, 1024.0]), (imb, [0.0, 1024.0]), ("bytes,time_us\n4,1.5\n8,2\n", [4.0, 8.0])]
    {
        assert!(ping_pong::is_like(text));
        let found = ping_pong::read("f", text).unwrap();
        assert_eq!(found.iter().map(|sample| sample.bytes).collect::<Vec<_>>(), sizes);
    }
    let why = ping_pong::read("f", "bytes,time_us\nx,1\n").unwrap_err();
    assert_eq!(why.to_string(), "line 2: `x,1`: expected bytes and a time");
}
