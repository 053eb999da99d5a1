//! Names as traces hold them against the names a source shows, written by hand.

use super::*;

#[test]
fn trace_names_reduce_to_source_names() {
    let truth = [
        ("void ops::gemm<float, 16>(float const*, float const*, float*, int)", "ops::gemm"),
        ("void gemm<float>(float*)", "gemm"),
        ("_Z4reluPfi", "relu"),
        ("_Z4reluPfi.kd", "relu"),
        ("_Z4reluPfi.llvm.42", "relu"),
        ("_Z4reluPfi.__uniq.123456789.llvm.7", "relu"),
        ("_ZN3ops4gemmIfLi16EEEvPKT_S3_PS1_i", "ops::gemm"),
        ("_ZN12_GLOBAL__N_11kEi", "(anonymous namespace)::k"),
        ("_ZL4reluPf", "relu"),
        ("(anonymous namespace)::k(int)", "(anonymous namespace)::k"),
        ("void (anonymous namespace)::k<int>(int)", "(anonymous namespace)::k"),
        ("{anonymous}::k(int)", "(anonymous namespace)::k"),
        ("Relu(float*)", "Relu"),
        ("relu", "relu"),
        ("void relu<int> (float*)", "relu"),
        ("relu.kd", "relu"),
        ("relu(float*, int) [clone .kd]", "relu"),
        ("foo<int>(float*) [clone .isra.0] [clone .kd]", "foo"),
        ("unsigned long ns::count<3>(int)", "ns::count"),
        ("void a::Box<int, std::tuple<float, b<2> > >::run<true>(int*)", "a::Box::run"),
        ("a::F::operator()(int) const", "a::F::operator()"),
        ("bool a::F::operator< <int>(int)", "a::F::operator<"),
        ("void k<(x > 3), {lambda(int)#1}>(int)", "k"),
        ("void ops::gemm<float, std::tuple<int", "ops::gemm"),
        ("_ZN3ops4gemmIfLi16EEEvPKT_S3", "ops::gemm"),
        ("void k[abi:cxx11](int)", "k"),
        ("std::enable_if<true, void>::type ns::k<int>(int)", "ns::k"),
        ("", ""),
    ];
    for (trace, source) in truth {
        assert_eq!(qualified_name(trace), source, "{trace}");
    }
}

#[test]
fn triton_signatures_are_split_off() {
    assert_eq!(without_triton_suffix("add_kernel_0d1d2de"), Some("add_kernel"));
    assert_eq!(without_triton_suffix("add_kernel_012"), Some("add_kernel"));
    assert_eq!(without_triton_suffix("add_kernel"), None);
    assert_eq!(without_triton_suffix("my_dec"), None);
}

#[test]
fn long_and_hostile_names_end_quickly() {
    let deep = format!("void k<{}>(int)", "a<".repeat(500_000));
    assert_eq!(qualified_name(&deep), "k");
    let million = "x".repeat(1_000_000);
    assert_eq!(qualified_name(&million).len(), MAX_TRACE_NAME_BYTES);
    // Each substitution repeats the one before twice.
    let bomb = format!("_Z1fI{}EvT_", "S_S0_".repeat(20_000));
    qualified_name(&bomb);
    qualified_name(&format!("_Z1f{}", "P".repeat(1_000_000)));
    qualified_name(&"[clone ".repeat(100_000));
    qualified_name(&format!("k{}", ".kd".repeat(300_000)));
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_name(text in "\\PC{0,200}", mangled in "[_ZNILE0-9a-z]{0,80}") {
        qualified_name(&text);
        qualified_name(&format!("_Z{mangled}"));
    }
}
