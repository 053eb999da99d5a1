//! Architecture ids and kernel names in every spelling that traces hold.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use perfxpert_knowledge::arch::{self, SelectedBy};
use perfxpert_knowledge::kernels::{self, Category, Kind, RuntimeRole};

#[test]
fn suffixes_prefixes_case_and_blanks_do_not_matter() {
    for (spelling, id) in [
        ("gfx942:sramecc+:xnack-", "gfx942"),
        ("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "gfx90a"),
        ("GFX942", "gfx942"),
        (" gfx1100 ", "gfx1100"),
        (" GFX942:sramecc+:xnack-", "gfx942"),
        ("gfx90A", "gfx90a"),
    ] {
        assert_eq!(arch::find(spelling).map(|gpu| gpu.gfx_id.as_str()), Some(id), "{spelling}");
    }
}

#[test]
fn unknown_architectures_get_no_figures() {
    for id in [
        "gfx9-4-generic",
        "gfx1250",
        "gfx9999",
        "gfx1151",
        "gfx1150",
        "gfx1103",
        "",
        "gfx",
        "gfx9",
        "942",
        "sm_90",
    ] {
        assert!(arch::find(id).is_none(), "{id}");
    }
    assert_eq!(arch::normalise("gfx9-4-generic"), None);
    assert_eq!(arch::normalise("gfx1250").as_deref(), Some("gfx1250"));
}

#[test]
fn products_are_told_apart() {
    let pick = |gfx: &str, name: Option<&str>, device: Option<u32>, cus: Option<u32>| {
        let found = arch::find(gfx).unwrap().select(name, device, cus).unwrap();
        (found.sku.sku.clone(), found.by, found.others.iter().map(|sku| sku.sku.clone()).collect::<Vec<_>>())
    };
    let alone = |sku: &str, by| (sku.to_owned(), by, vec![]);
    assert_eq!(pick("gfx942", None, None, None), alone("MI300X", SelectedBy::Default));
    assert_eq!(pick("gfx942", None, None, Some(228)), alone("MI300A", SelectedBy::CuCount));
    assert_eq!(
        pick("gfx942", None, None, Some(304)),
        ("MI300X".into(), SelectedBy::CuCount, vec!["MI325X".into()])
    );
    assert_eq!(pick("gfx942", None, None, Some(77)), alone("MI300X", SelectedBy::Default));
    assert_eq!(pick("gfx942", None, Some(29861), Some(304)), alone("MI325X", SelectedBy::DeviceId));
    assert_eq!(
        pick("gfx942", Some("AMD Instinct MI325X OAM"), None, Some(304)),
        alone("MI325X", SelectedBy::Name)
    );
    assert_eq!(pick("gfx942", Some("mi300a"), None, None), alone("MI300A", SelectedBy::Name));
    assert_eq!(pick("gfx90a", None, None, Some(104)), alone("MI210", SelectedBy::CuCount));
    assert_eq!(pick("gfx90a", None, None, Some(110)), alone("MI250X", SelectedBy::CuCount));
    assert_eq!(pick("gfx90a", Some("MI250"), None, None), alone("MI210", SelectedBy::Name));
    assert_eq!(
        pick("gfx90a", Some("AMD Instinct MI250X/MI250"), None, None),
        alone("MI250X", SelectedBy::Name)
    );
    assert_eq!(pick("gfx1100", Some("rx7900xtx"), None, None), alone("RX 7900 XTX", SelectedBy::Name));
    assert_eq!(pick("gfx950", Some("AMD Instinct MI355X"), None, None), alone("MI355X", SelectedBy::Name));
    // MI300 alone names no product, and must not be found inside MI300A or MI300X.
    assert_eq!(pick("gfx942", Some("Aqua Vanjaram"), None, None), alone("MI300X", SelectedBy::Default));
}

#[test]
fn base_identifiers() {
    for (name, base) in [
        (
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(at::native::ReduceOp<float>)",
            "reduce_kernel",
        ),
        ("std::enable_if<(int)4 == 4, void>::type ns::gemm<float>(float const*, int) [clone .kd]", "gemm"),
        ("void foo(int)::{lambda(int)#1}::operator()(int) const", "foo"),
        ("(anonymous namespace)::softmax_warp_forward(float*)", "softmax_warp_forward"),
        ("Cijk_Ailk_Bljk_BBS_BH_MT128x128x32", "Cijk_Ailk_Bljk_BBS_BH_MT128x128x32"),
        ("_ZN2at6native13reduce_kernelILi512EEEvT_", "reduce_kernel"),
        ("_Z32ncclDevKernel_AllReduce_Sum_f32P6Params", "ncclDevKernel_AllReduce_Sum_f32P"),
        ("_Z9vectorAddPKfS0_Pfi", "vectorAdd"),
        ("_Zbroken", "_Zbroken"),
        ("", ""),
        ("<>", "<>"),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
    ] {
        assert_eq!(kernels::base_identifier(name), base, "{name}");
    }
}

#[test]
fn kinds_follow_the_start_of_the_base_identifier() {
    for name in [
        "ncclDevKernel_Generic(ncclDevComm*, unsigned long)",
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "rcclGenericKernel",
        "mscclKernel_Sum_float_Simple(void)",
        "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
        "NCCLdevKernel",
    ] {
        assert_eq!(kernels::kind(name), Kind::Collective, "{name}");
    }
    for name in ["broadcast_add", "all_reduce_local(float*)", "my_nccl_like", "ns::use_rccl(int)"] {
        assert_eq!(kernels::kind(name), Kind::User, "{name}");
    }
    for (name, role) in [
        ("__amd_rocclr_copyBuffer", RuntimeRole::Copy),
        ("__amd_rocclr_copyBuffer.kd", RuntimeRole::Copy),
        ("__amd_rocclr_fillBufferAligned", RuntimeRole::Fill),
        ("__amd_rocclr_initHeap", RuntimeRole::Init),
        ("__amd_rocclr_streamOpsWrite", RuntimeRole::Other),
    ] {
        assert_eq!(kernels::kind(name), Kind::Runtime);
        assert_eq!(kernels::runtime_role(name), Some(role), "{name}");
    }
    assert_eq!(kernels::runtime_role("copyBuffer"), None);
}

#[test]
fn categories_take_the_first_match() {
    for (name, category) in [
        ("ncclDevKernel_AllReduce_Sum_f32", Category::Nccl),
        ("fmha_fwd_gemm_kernel", Category::Sdpa),
        ("void flash::flash_fwd_kernel<128>(Params)", Category::Sdpa),
        ("Cijk_Ailk_Bljk_HHS_BH", Category::Gemm),
        ("void ck::kernel_gemm_xdl_cshuffle_v1<ck::Foo>(int)", Category::Gemm),
        ("igemm_fwd_gtcx3_nhwc_fp16", Category::Conv),
        ("miopenSp3AsmConv_v30", Category::Conv),
        ("layer_norm_kernel", Category::Normalization),
        ("softmax_warp_forward", Category::Reduction),
        ("__amd_rocclr_copyBuffer", Category::Copy),
        ("void at::native::vectorized_elementwise_kernel<4, Add>(int)", Category::Elementwise),
        ("nbody", Category::Other),
        // Only the base identifier counts, not the template arguments.
        ("void run<GemmOp>(int)", Category::Other),
    ] {
        assert_eq!(kernels::category(name), category, "{name}");
    }
    let order: Vec<_> = kernels::categories().iter().map(|row| row.name.as_str()).collect();
    assert_eq!(
        order,
        ["NCCL", "SDPA", "GEMM", "CONV", "Normalization", "Reduction", "Copy", "Elementwise", "Other"]
    );
}

#[test]
fn library_kernels_are_known() {
    for name in
        ["Cijk_Ailk", "void at::native::foo<1>(int)", "ncclDevKernel_X", "void rocprim::detail::scan<int>()"]
    {
        assert!(kernels::is_library(name), "{name}");
    }
    for name in
        ["my_gemm(float*)", "pack::kernel(int)", "stack::push(int)", "void run<ck::Foo>(at::native::X)"]
    {
        assert!(!kernels::is_library(name), "{name}");
    }
}

#[test]
fn twenty_thousand_long_names_are_classified_quickly() {
    let names: Vec<String> = (0..20_000)
        .map(|i| format!("void ns::kernel_{i}<{}>(float const*, int)", "std::tuple<int, float>, ".repeat(20)))
        .collect();
    let begun = std::time::Instant::now();
    let users = names
        .iter()
        .filter(|name| kernels::kind(name) == Kind::User && kernels::category(name) == Category::Other)
        .count();
    assert_eq!(users, 20_000);
    // Unoptimised and on a loaded machine; a quadratic step or a compiled pattern per name takes minutes.
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    let deep = "a<".repeat(500_000);
    assert_eq!(kernels::category(&deep), Category::Other);
}
