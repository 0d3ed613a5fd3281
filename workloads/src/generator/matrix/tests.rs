use super::*;

#[test]
fn a_matrix_has_as_many_rows_as_columns() {
    let matrix = Matrix::parse("0, 1,2\n10,0,12\r\n20,21,0\n\n").unwrap();
    assert_eq!((matrix.nodes(), matrix.bytes(1, 2), matrix.largest()), (3, 12, 21));
    assert_eq!(matrix.total(&[0, 2], &[0, 1]), 1 + 20 + 21);
}

/// The expected sizes are those that the function returns for each pair.
#[test]
fn sparse_matrices_have_the_sizes_of_their_rows() {
    let size = |from: u64, to: u64| {
        if (from * 7 + to).is_multiple_of(701) { 1 + from * 3 + to } else { 0 }
    };
    let rows = |nodes| {
        Matrix::from_rows(nodes, |from, row| {
            (0..).zip(row).for_each(|(to, bytes)| *bytes = size(from, to));
        })
    };
    // If there are more than 8,192 nodes, the matrix has no index.
    for nodes in [2048, 2049, 8193] {
        let matrix = rows(nodes).unwrap();
        assert_eq!(matches!(matrix.cells, MatrixCells::Sparse { .. }), nodes > 2048);
        let mut largest = 0;
        for from in (0..nodes).step_by(97) {
            let (mut received, mut sum) = (Vec::new(), 0);
            matrix.each_receiver(from, nodes, &mut |to, bytes| received.push((to, bytes)));
            for to in 0..nodes {
                assert_eq!(matrix.bytes(from, to), size(from, to), "{from} {to}");
                sum += if to % 3 == 0 { size(from, to) } else { 0 };
            }
            let expected = (0..nodes).map(|to| (to, size(from, to)));
            assert_eq!(received, expected.filter(|of| of.1 > 0).collect::<Vec<_>>());
            let thirds: Vec<u64> = (0..nodes).step_by(3).collect();
            assert_eq!(matrix.total(&[from], &thirds), sum);
        }
        for from in 0..nodes {
            largest = (0..nodes).map(|to| size(from, to)).fold(largest, u64::max);
        }
        assert_eq!(matrix.largest(), largest);
    }
    // If many sizes are not 0, all sizes are stored, also those of the first rows, which were
    // stored in the sparse form.
    let half = Matrix::from_rows(2050, |from, row| {
        row.iter_mut().skip(from as usize % 2).step_by(2).for_each(|bytes| *bytes = from + 1);
    });
    let half = half.unwrap();
    assert!(matches!(half.cells, MatrixCells::Dense(_)));
    for from in [0, 1, 1025, 1026, 2049] {
        assert_eq!([from % 2, 1 - from % 2].map(|to| half.bytes(from, to)), [from + 1, 0]);
    }
    assert_eq!(
        Matrix::from_rows(8193, |_, row| row.fill(1)).unwrap_err(),
        "has data for more than 16777216 pairs of 8193 nodes; with more than 8192 nodes, so many pairs are the limit (fewer tokens or a smaller density give fewer)"
    );
    assert_eq!(
        Matrix::from_rows(65_537, |_, _| {}).unwrap_err(),
        "has a size for every pair: at most 65536 nodes, most of them without data for each other, there are 65537"
    );
}

#[test]
fn errors_in_matrices_have_line_and_column() {
    let error = |text: &str| {
        Matrix::parse(text).map(|_| ()).map_err(|e| (e.line, e.column, e.message)).unwrap_err()
    };
    let count = "is not a byte count, expected a whole number from 0 to 1099511627776";
    assert_eq!(error("0,1\n2,x\n"), (2, 2, format!("`x` {count}")));
    assert_eq!(error("0,-1\n2,0\n"), (1, 2, format!("`-1` {count}")));
    assert_eq!(error("0,1\n2,9999999999999\n"), (2, 2, format!("`9999999999999` {count}")));
    assert_eq!(
        error("0,1\n2\n"),
        (2, 2, "1 sizes in this row, expected 2 as in the first".to_owned())
    );
    assert_eq!(
        error("0,1\n2,0,3\n"),
        (2, 3, "3 sizes in this row, expected 2 as in the first".to_owned())
    );
    assert_eq!(
        error("0,1\n1,0\n1,1\n"),
        (3, 1, "more rows than columns, expected 2 of each".to_owned())
    );
    assert_eq!(
        error("0,1,2\n1,0,2\n"),
        (2, 1, "2 rows and 3 columns, expected the same number of each".to_owned())
    );
    assert_eq!(
        error(""),
        (1, 1, "0 rows and 0 columns, expected the same number of each".to_owned())
    );
}

#[test]
fn one_block_per_node_allows_a_single_row_or_column() {
    let read = |text: &str| {
        Cells::parse(text, true, byte_count).map(|cells| cells.bytes).map_err(|e| e.message)
    };
    assert_eq!(
        (read("1,2,3"), read("1\n2\n3\n"), read("7")),
        (Ok(vec![1, 2, 3]), Ok(vec![1, 2, 3]), Ok(vec![7]))
    );
    assert_eq!(
        read("1,2,3\n4,5,6").unwrap_err(),
        "2 rows and 3 columns, expected the same number of each, or a single row or column"
    );
    assert_eq!(
        read("1,2\n3,4\n5,6").unwrap_err(),
        "more rows than columns, expected 2 of each, or a single row or column"
    );
}
