// Two standard Gaussian numbers from two random words: exact in f64, or fast in f32 if the radius is not in the tail.

// Radius words below this value take 64 more random bits.
#define FIRST_BODY_RADIUS 65536u

// Same as core's `gaussian_pair`; `pair` is the index of the pair among the trial's draws.
__device__ double2 exact_pair(const Trial& trial, unsigned int pair, unsigned int radius, unsigned int angle) {
    double fraction = 0.5;
    if (radius < FIRST_BODY_RADIUS) {
        fraction = ((double)uniform(trial, TAIL, pair) + 0.5) * 0x1p-64;
    }
    const double p = ((double)radius + fraction) * 0x1p-32;
    const double length = sqrt(-2.0 * log(p));
    const double quarter_turns = ((double)(angle >> 1 & 0x3fffffu) + 0.5) * 0x1p-22 - 0.5;
    double sine, cosine;
    sincospi(0.5 * quarter_turns, &sine, &cosine);
    const double along = angle >> 31 ? -length * cosine : length * cosine;
    const double across = length * sine;
    return angle >> 30 & 1 ? make_double2(across, along) : make_double2(along, across);
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

// 2^(f z - offset) for both numbers of a pair outside the tail, in any order. `scale` is 2 ln(2) f^2.
//
// Sine and cosine of t quarter turns, |t| <= 1/2, are polynomials in t^2 that interpolate at Chebyshev points. They are exact to
// 3e-9; the device's own functions are not accurate enough. t is taken from the angle's bits as those of a float in [1, 2),
// without a conversion.
__device__ __forceinline__ float2 fast_exponentials(unsigned int radius, unsigned int angle, float scale,
                                                    float offset) {
    const float p = fmaf(__uint2float_rn(radius), 0x1p-32f, 0x1p-33f);
    // The approximate logarithm of a number near one may have the wrong sign.
    const float length = root_approximately(fabsf(scale * log2_approximately(p)));
    const float signed_length = __uint_as_float(__float_as_uint(length) ^ (angle & 0x80000000u));
    const float t = __uint_as_float((angle & 0x7ffffeu) | 0x3f800001u) - 1.5f;
    const float x = t * t;
    float cosine = fmaf(x, 9.06741899e-4f, -2.08615291e-2f);
    cosine = fmaf(x, cosine, 2.53669410e-1f);
    cosine = fmaf(x, cosine, -1.23370055f);
    cosine = fmaf(x, cosine, 1.0f);
    float sine = fmaf(x, -4.60216310e-3f, 7.96802229e-2f);
    sine = fmaf(x, sine, -6.45963478e-1f);
    sine = fmaf(x, sine, 1.57079632f);
    return make_float2(exp2_approximately(fmaf(signed_length, cosine, -offset)),
                       exp2_approximately(fmaf(length * t, sine, -offset)));
}
