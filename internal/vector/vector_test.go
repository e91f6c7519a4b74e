package vector

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestAPointIsTheDirectionOfAnEmbedding(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, bad := range [][]float32{nil, {}, {0, 0}, {1, nan}, {nan}, {inf, 1}, {1, -inf}, make([]float32, MaxDimensions+1)} {
		if _, ok := NewPoint(bad); ok {
			t.Errorf("%d numbers are a point", len(bad))
		}
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		a, b := make([]float32, 1+random.IntN(400)), []float32{}
		var dot, aa, bb float64
		for i := range a {
			a[i] = float32(random.NormFloat64()) * 1e-30
			b = append(b, float32(random.NormFloat64())*1e30)
			dot, aa, bb = dot+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
		}
		p, ok := NewPoint(a)
		q, ok2 := NewPoint(b)
		if got, want := NewQuery(&p).Cosine(&q), dot/math.Sqrt(aa*bb); !ok || !ok2 || math.Abs(got-want) > 0.03 {
			t.Errorf("%d dimensions: %f, want %f", len(a), got, want)
		}
		if same, ok := PointOf(p.Values()); !ok || same.scale != p.scale {
			t.Errorf("the values give %+v", same)
		}
	}
}
