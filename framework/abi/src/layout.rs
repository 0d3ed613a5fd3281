//! Checks at compile time that the layout of the structs stays the same. Sizes and offsets are
//! those of 64-bit targets, the only supported ones.

use crate::*;
use core::mem::{offset_of, size_of};

#[cfg(not(target_pointer_width = "64"))]
compile_error!("the plugin boundary is defined for 64-bit targets only");

macro_rules! frozen {
    ($type:ident: $size:literal; $($field:ident @ $offset:literal),+ $(,)?) => {
        const _: () = {
            assert!(size_of::<$type>() == $size);
            $(assert!(offset_of!($type, $field) == $offset);)+
        };
    };
}

frozen!(SwmStr: 16; ptr @ 0, len @ 8);
frozen!(SwmAxis: 40; kind @ 0, reserved @ 4, first @ 8, stride @ 16, count @ 24, words @ 32);
frozen!(SwmSet: 24; kind @ 0, axis_count @ 4, node @ 8, axes @ 16);
frozen!(SwmRoute: 40; size @ 0, dim_count @ 4, signs @ 8, order @ 16, path @ 24, path_len @ 32);
frozen!(SwmBlocks: 160; size @ 0, flags @ 4, from @ 8, to @ 16, origins @ 24, destinations @ 48, segments @ 72, route @ 112,
    label @ 120, extra_bytes @ 136, reducer @ 144, multicaster @ 152);
frozen!(SwmBucket: 40; size @ 0, flags @ 4, from @ 8, to @ 16, bucket @ 24, route @ 32);
frozen!(SwmBytes: 48; size @ 0, flags @ 4, from @ 8, to @ 16, counts @ 24, count @ 32, route @ 40);
frozen!(SwmByteCount: 16; destination @ 0, bytes @ 8);
frozen!(SwmRedistribution: 64; size @ 0, flags @ 4, node @ 8, buckets @ 16, cycle @ 24, first @ 32, starts @ 40, firsts @ 48,
    node_count @ 56);
frozen!(SwmLayout: 24; size @ 0, axis_count @ 4, radices @ 8, segments @ 16, flags @ 20);
frozen!(SwmSymmetry: 16; kind @ 0, reserved @ 4, unit @ 8);
frozen!(SwmTopology: 72; size @ 0, dim_count @ 4, kind @ 8, spec @ 24, nodes @ 40, dims @ 48, base @ 56, levels @ 64);
frozen!(SwmParam: 32; key @ 0, value @ 16);
frozen!(SwmProblem: 56; size @ 0, collective @ 4, topology @ 8, root @ 16, params @ 24, param_count @ 32, permutation @ 40);
frozen!(SwmLink: 24; to @ 0, bandwidth @ 8, latency @ 16);
frozen!(SwmHost: 256; size @ 0, reserved @ 4, ctx @ 8, fail @ 16, log @ 24, block_bytes @ 32, pair_bytes @ 40, ports @ 48,
    virtual_channels @ 56, element_bytes @ 64, destination @ 72, startup_us @ 80, hop_us @ 88, byte_us @ 96, layout @ 104, place @ 112,
    phase @ 120, step @ 128, send_blocks @ 136, rearrange @ 144, redistribute @ 152, send_bucket @ 160, send_bytes @ 168, symmetric @ 176,
    symmetric_from @ 184, vertices @ 192, links @ 200, uniform @ 208, demand @ 216, token_bytes @ 224,
    token_receivers @ 232, shares_routes @ 240, can_reduce @ 248);
frozen!(SwmParamInfo: 72; size @ 0, kind @ 4, key @ 8, default_value @ 24, help @ 40, values @ 56, value_count @ 64);
frozen!(SwmAlgorithm: 128; size @ 0, reserved @ 4, name @ 8, title @ 24, paper @ 40, accepts @ 56, collectives @ 72, params @ 80,
    param_count @ 88, user @ 96, supports @ 104, plan @ 112, ports @ 120);
frozen!(SwmHead: 24; magic @ 0, abi_major @ 8, abi_minor @ 12, size @ 16, reserved @ 20);
frozen!(SwmPlugin: 88; head @ 0, name @ 24, version @ 40, licence @ 56, algorithms @ 72, algorithm_count @ 80);
