package kernel

// AddRows adds n rows of b, each as long as dst, to dst: row k times a[k*step], in ascending order of k. Four rows
// share a pass over dst. Each product is rounded: the conversion keeps hosts with fused multiply-add from producing
// other bytes.
func AddRows(dst, b, a []float32, step, n int) {
	w, k := len(dst), 0
	for ; k+4 <= n; k += 4 {
		s0, s1, s2, s3 := a[k*step], a[(k+1)*step], a[(k+2)*step], a[(k+3)*step]
		b0, b1, b2, b3 := b[k*w:][:w], b[(k+1)*w:][:w], b[(k+2)*w:][:w], b[(k+3)*w:][:w]
		for i, v := range dst {
			v += float32(s0 * b0[i])
			v += float32(s1 * b1[i])
			v += float32(s2 * b2[i])
			dst[i] = v + float32(s3*b3[i])
		}
	}
	for ; k < n; k++ {
		s, row := a[k*step], b[k*w:][:w]
		for i, v := range row {
			dst[i] += float32(s * v)
		}
	}
}

// AddRowsInt is AddRows on integers, which wrap around.
func AddRowsInt(dst, b, a []int32, step, n int) {
	w, k := len(dst), 0
	for ; k+4 <= n; k += 4 {
		s0, s1, s2, s3 := a[k*step], a[(k+1)*step], a[(k+2)*step], a[(k+3)*step]
		b0, b1, b2, b3 := b[k*w:][:w], b[(k+1)*w:][:w], b[(k+2)*w:][:w], b[(k+3)*w:][:w]
		for i, v := range dst {
			dst[i] = v + s0*b0[i] + s1*b1[i] + s2*b2[i] + s3*b3[i]
		}
	}
	for ; k < n; k++ {
		s, row := a[k*step], b[k*w:][:w]
		for i, v := range row {
			dst[i] += s * v
		}
	}
}

// DotFloat is the sum of a[k*step] * b[k] in ascending order, each product
// rounded.
func DotFloat(a, b []float32, step int) float32 {
	sum, at := float32(0), 0
	for _, v := range b {
		sum += float32(a[at] * v)
		at += step
	}
	return sum
}

// DotInt is DotFloat on integers, which wrap around.
func DotInt(a, b []int32, step int) int32 {
	sum, at := int32(0), 0
	for _, v := range b {
		sum += a[at] * v
		at += step
	}
	return sum
}
