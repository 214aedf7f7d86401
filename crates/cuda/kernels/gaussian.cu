// From two random words to two standard Gaussian numbers: exact in f64, and fast in f32 where the radius is not in the tail.

// Radius words below this one take 64 more random bits.
#define FIRST_BODY_RADIUS 65536u

// Core's `gaussian_pair`; `pair` is the index of the pair among the trial's draws.
__device__ double2 exact_pair(const Trial& trial, unsigned int pair, unsigned int radius, unsigned int angle) {
    double fraction = 0.5;
    if (radius < FIRST_BODY_RADIUS) {
        fraction = ((double)uniform(trial, TAIL, pair) + 0.5) * 0x1p-64;
    }
    const double p = ((double)radius + fraction) * 0x1p-32;
    const double length = sqrt(-2.0 * log(p));
    double sine, cosine;
    sincospi((double)(angle >> 9) * 0x1p-22 - 1.0, &sine, &cosine);
    return make_double2(length * cosine, length * sine);
}

__device__ __forceinline__ float log2_approximately(float x) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ float exp2_approximately(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ float root_approximately(float x) {
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ float2 turn_approximately(float radians) {
    float cosine, sine;
    asm("cos.approx.ftz.f32 %0, %1;" : "=f"(cosine) : "f"(radians));
    asm("sin.approx.ftz.f32 %0, %1;" : "=f"(sine) : "f"(radians));
    return make_float2(cosine, sine);
}

// 2^(f z - offset) for both numbers of a pair outside the tail, where `scale` is 2 ln(2) f^2.
__device__ __forceinline__ float2 fast_exponentials(unsigned int radius, unsigned int angle, float scale,
                                                    float offset) {
    const float p = fmaf(__uint2float_rn(radius), 0x1p-32f, 0x1p-33f);
    // The approximation of a logarithm next to zero may have the wrong sign.
    const float length = root_approximately(fabsf(scale * log2_approximately(p)));
    // The angle's leading bits as those of a float in [1, 2): no conversion, which would be slow.
    const float turns = __uint_as_float(0x3f800000u | angle >> 9);
    const float2 direction = turn_approximately(fmaf(turns, 6.28318530718f, -9.42477796077f));
    return make_float2(exp2_approximately(fmaf(length, direction.x, -offset)),
                       exp2_approximately(fmaf(length, direction.y, -offset)));
}
