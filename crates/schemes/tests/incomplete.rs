//! A part that lacks something does not compile.

#[test]
fn a_part_that_lacks_something_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/incomplete/*.rs");
}
