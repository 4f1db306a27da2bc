//! A host's cable over AF_XDP: a socket that shares frames with the kernel in memory, at the outer end of a
//! pair of veth interfaces.
//!
//! What lives here: the four rings of the socket (Linux, Documentation/networking/af_xdp.rst) and the BPF
//! program that gives every frame of the interface to the socket. Frames are copied: veth has no zero-copy mode.
#![allow(unsafe_code)]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use flowsched_lab::tap::Cable;
pub use libbpf_rs::XdpFlags;
use libbpf_rs::libbpf_sys::{self, BPF_PROG_TYPE_XDP, bpf_map_create_opts};
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType, Xdp};
use nix::net::if_::if_nametoindex;

use crate::Card;

/// Frames of each ring, near the 20,000 of the lab's TAP interfaces.
const RING: u32 = 16_384;
/// Bytes of a frame's place in memory.
const CHUNK: u32 = 2_048;

/// The socket, with the memory and the rings that it shares with the kernel.
pub struct AfXdp {
    socket: OwnedFd,
    _memory: Mapping,
    frames: NonNull<u8>,
    fill: Ring<u64>,
    received: Ring<libc::xdp_desc>,
    sent: Ring<libc::xdp_desc>,
    completed: Ring<u64>,
    /// Places of frames that the kernel does not hold.
    free: Vec<u64>,
    _sockets: MapHandle,
    _program: OwnedFd,
}

impl AfXdp {
    /// Takes all frames of `interface`, which has one queue, in the namespace of the calling thread.
    pub fn new(interface: &str, mode: XdpFlags) -> io::Result<AfXdp> {
        // SAFETY: no memory is passed, and the file is nobody else's.
        let socket =
            unsafe { OwnedFd::from_raw_fd(check(libc::socket(libc::AF_XDP, libc::SOCK_RAW, 0))?) };
        let memory = Mapping::anonymous(2 * RING as usize * CHUNK as usize)?;
        let frames = memory.start;
        register(&socket, &memory)?;
        for ring in [
            libc::XDP_UMEM_FILL_RING,
            libc::XDP_UMEM_COMPLETION_RING,
            libc::XDP_RX_RING,
            libc::XDP_TX_RING,
        ] {
            set(&socket, ring, &RING)?;
        }
        let offsets = offsets(&socket)?;
        let (fill, completed) =
            (libc::XDP_UMEM_PGOFF_FILL_RING, libc::XDP_UMEM_PGOFF_COMPLETION_RING);
        let mut fill = Ring::new(&socket, fill as libc::off_t, &offsets.fr)?;
        let completed = Ring::new(&socket, completed as libc::off_t, &offsets.cr)?;
        let received = Ring::new(&socket, libc::XDP_PGOFF_RX_RING, &offsets.rx)?;
        let sent = Ring::new(&socket, libc::XDP_PGOFF_TX_RING, &offsets.tx)?;
        let place = |number: u32| u64::from(number) * u64::from(CHUNK);
        (0..RING).for_each(|number| fill.push(place(number)));
        let free = (RING..2 * RING).map(place).collect();
        let index = if_nametoindex(interface)?;
        bind(&socket, index)?;
        let (sockets, program) = redirect(&socket, index, mode)?;
        Ok(AfXdp {
            socket,
            _memory: memory,
            frames,
            fill,
            received,
            sent,
            completed,
            free,
            _sockets: sockets,
            _program: program,
        })
    }

    /// The frame's place in memory.
    fn frame(&self, place: u64, length: usize) -> *mut [u8] {
        // SAFETY: places are those of the fill and the free list, or come back from the kernel.
        let start = unsafe { self.frames.as_ptr().add(place as usize) };
        std::ptr::slice_from_raw_parts_mut(start, length)
    }
}

// SAFETY: the memory belongs to the socket alone, and who has the socket has it mutably.
unsafe impl Send for AfXdp {}

impl Card for AfXdp {
    fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        while let Some(place) = self.completed.pop() {
            self.free.push(place);
        }
        let Some(place) = self.free.pop() else { return Ok(false) };
        // SAFETY: the kernel does not hold the frame, and frames are shorter than a chunk.
        unsafe { &mut *self.frame(place, frame.len()) }.copy_from_slice(frame);
        self.sent.push(libc::xdp_desc { addr: place, len: frame.len() as u32, options: 0 });
        let (socket, flags) = (self.socket.as_raw_fd(), libc::MSG_DONTWAIT);
        // SAFETY: no memory is passed.
        let result =
            unsafe { libc::sendto(socket, std::ptr::null(), 0, flags, std::ptr::null(), 0) };
        check(result as i32).map(|_| true)
    }
}

impl Cable for AfXdp {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(found) = self.received.pop() else { return Ok(None) };
        let length = (found.len as usize).min(buffer.len());
        // SAFETY: the kernel has given the frame to this process.
        buffer[..length].copy_from_slice(unsafe { &*self.frame(found.addr, length) });
        self.fill.push(found.addr - found.addr % u64::from(CHUNK));
        Ok(Some(length))
    }

    fn file(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Memory that is shared with the kernel, until this is dropped.
struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    fn anonymous(bytes: usize) -> io::Result<Mapping> {
        Mapping::new(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    }

    fn new(bytes: usize, flags: i32, file: i32, offset: libc::off_t) -> io::Result<Mapping> {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, flags | libc::MAP_POPULATE);
        // SAFETY: a new mapping, where the kernel likes it.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, file, offset) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => {
                Ok(Mapping { start, bytes })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and whoever used it is gone.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// A ring of descriptors with one producer and one consumer, one of which is the kernel.
struct Ring<T> {
    producer: NonNull<AtomicU32>,
    consumer: NonNull<AtomicU32>,
    descriptors: NonNull<T>,
    _mapping: Mapping,
}

impl<T: Copy> Ring<T> {
    fn new(
        socket: &OwnedFd,
        page: libc::off_t,
        offsets: &libc::xdp_ring_offset,
    ) -> io::Result<Ring<T>> {
        let bytes = offsets.desc as usize + RING as usize * size_of::<T>();
        let mapping = Mapping::new(bytes, libc::MAP_SHARED, socket.as_raw_fd(), page)?;
        // SAFETY: the kernel says where in the mapping they are.
        let at = |offset: u64| unsafe { mapping.start.add(offset as usize) };
        Ok(Ring {
            producer: at(offsets.producer).cast(),
            consumer: at(offsets.consumer).cast(),
            descriptors: at(offsets.desc).cast(),
            _mapping: mapping,
        })
    }

    /// Adds a descriptor. There is room: a ring has as many places as there are frames for it.
    fn push(&mut self, descriptor: T) {
        // SAFETY: this process is the ring's producer.
        unsafe {
            let producer = self.producer.as_ref();
            let next = producer.load(Ordering::Relaxed);
            self.descriptors.add((next % RING) as usize).write(descriptor);
            producer.store(next.wrapping_add(1), Ordering::Release);
        }
    }

    fn pop(&mut self) -> Option<T> {
        // SAFETY: this process is the ring's consumer.
        unsafe {
            let (producer, consumer) = (self.producer.as_ref(), self.consumer.as_ref());
            let next = consumer.load(Ordering::Relaxed);
            if next == producer.load(Ordering::Acquire) {
                return None;
            }
            let descriptor = self.descriptors.add((next % RING) as usize).read();
            consumer.store(next.wrapping_add(1), Ordering::Release);
            Some(descriptor)
        }
    }
}

fn register(socket: &OwnedFd, memory: &Mapping) -> io::Result<()> {
    // SAFETY: all zero is a valid request.
    let mut request: libc::xdp_umem_reg = unsafe { std::mem::zeroed() };
    request.addr = memory.start.as_ptr() as u64;
    request.len = memory.bytes as u64;
    request.chunk_size = CHUNK;
    set(socket, libc::XDP_UMEM_REG, &request)
}

fn set<T>(socket: &OwnedFd, option: i32, value: &T) -> io::Result<()> {
    let (value, length) = (std::ptr::from_ref(value).cast(), size_of::<T>() as u32);
    // SAFETY: the value has this length.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_XDP, option, value, length) })?;
    Ok(())
}

fn offsets(socket: &OwnedFd) -> io::Result<libc::xdp_mmap_offsets> {
    // SAFETY: all zero is a valid value, and it has this length.
    unsafe {
        let mut offsets: libc::xdp_mmap_offsets = std::mem::zeroed();
        let mut length = size_of::<libc::xdp_mmap_offsets>() as u32;
        let (place, option) = ((&raw mut offsets).cast(), libc::XDP_MMAP_OFFSETS);
        let socket = socket.as_raw_fd();
        check(libc::getsockopt(socket, libc::SOL_XDP, option, place, &raw mut length))?;
        Ok(offsets)
    }
}

fn bind(socket: &OwnedFd, index: u32) -> io::Result<()> {
    let address = libc::sockaddr_xdp {
        sxdp_family: libc::AF_XDP as u16,
        sxdp_flags: libc::XDP_COPY,
        sxdp_ifindex: index,
        sxdp_queue_id: 0,
        sxdp_shared_umem_fd: 0,
    };
    let length = size_of::<libc::sockaddr_xdp>() as u32;
    // SAFETY: the address has this length.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(())
}

/// Gives all frames of an interface to the socket. Returns the map that holds the socket, and the program that
/// reads the map.
fn redirect(socket: &OwnedFd, index: u32, mode: XdpFlags) -> io::Result<(MapHandle, OwnedFd)> {
    let options = bpf_map_create_opts {
        sz: size_of::<bpf_map_create_opts>() as _,
        ..bpf_map_create_opts::default()
    };
    let sockets =
        MapHandle::create(MapType::Xskmap, Some("sockets"), 4, 4, 1, &options).map_err(refused)?;
    let socket = socket.as_raw_fd().to_ne_bytes();
    sockets.update(&0u32.to_ne_bytes(), &socket, MapFlags::ANY).map_err(refused)?;
    let [a, b, c, d] = sockets.as_fd().as_raw_fd().to_ne_bytes();
    // return bpf_redirect_map(&sockets, context->rx_queue_index, XDP_PASS);
    let program: [[u8; 8]; 6] = [
        [0x61, 0x12, 16, 0, 0, 0, 0, 0],
        [0x18, 0x11, 0, 0, a, b, c, d],
        [0; 8],
        [0xb7, 0x03, 0, 0, 2, 0, 0, 0],
        [0x85, 0, 0, 0, 51, 0, 0, 0],
        [0x95, 0, 0, 0, 0, 0, 0, 0],
    ];
    // SAFETY: an instruction has 8 bytes, and the texts end with 0.
    let program = unsafe {
        OwnedFd::from_raw_fd(check(libbpf_sys::bpf_prog_load(
            BPF_PROG_TYPE_XDP,
            c"cable".as_ptr(),
            c"GPL".as_ptr(),
            program.as_ptr().cast(),
            program.len() as _,
            std::ptr::null_mut(),
        ))?)
    };
    Xdp::new(program.as_fd()).attach(index as i32, mode).map_err(refused)?;
    Ok((sockets, program))
}

fn refused(error: libbpf_rs::Error) -> io::Error {
    io::Error::other(error)
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
