//! Ends the program with an error when memory runs out, in place of an abort.
//!
//! Nothing can be cleaned up at that point. Finished runs are on the disk already.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

use nix::libc;

/// The system's allocator, which ends the program with an error if memory runs out.
struct OrError;

#[global_allocator]
static ALLOCATOR: OrError = OrError;

const MESSAGE: &str = "error: memory ran out; finished runs are kept, and the same command with --resume \
                       runs the rest\n";

// SAFETY: every call goes to `System` as it is; a null pointer is never returned.
unsafe impl GlobalAlloc for OrError {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract of `alloc`.
        there(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract of `alloc_zeroed`.
        there(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps to the contract of `realloc`.
        there(unsafe { System.realloc(block, layout, size) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[inline]
fn there(block: *mut u8) -> *mut u8 {
    if block.is_null() { end() } else { block }
}

/// Ends the program without any further allocation.
#[cold]
fn end() -> ! {
    // SAFETY: the text is there for as long as the program; nobody may be listening. `_exit` runs
    // no handlers, which could allocate.
    unsafe {
        libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(1)
    }
}
