// Operations that need the device's own instructions: products on the matrix cores, and copies that run in the background.

// sum += a b for a 16 x 8 tile a, an 8 x 8 tile b and a 16 x 8 tile of sums, spread over the lanes of a warp.
// With g = lane / 4 and t = lane % 4, a holds (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4); b holds (t, g), (t + 4, g); sum
// holds (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
// The low thirteen bits of a and b are ignored.
__device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned int (&a)[4], const unsigned int (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Copies WIDTH floats to shared memory in the background, or zeros if `there` is false.
template <int WIDTH>
__device__ __forceinline__ void copy_later(float* to, const float* from, bool there) {
    const unsigned int address = (unsigned int)__cvta_generic_to_shared(to);
    const int bytes = there ? 4 * WIDTH : 0;
    if (WIDTH == 4) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes));
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(bytes));
    }
}

__device__ __forceinline__ void end_of_copies() {
    asm volatile("cp.async.commit_group;");
}

// Waits until at most PENDING groups of copies are still running.
template <int PENDING>
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
