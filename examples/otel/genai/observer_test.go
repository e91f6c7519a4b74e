package genai

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

type telemetry struct {
	spans   *tracetest.InMemoryExporter
	tracers *trace.TracerProvider
	reader  *metric.ManualReader
	catalog *toolshelf.Catalog
}

func newTelemetry(t *testing.T) telemetry {
	t.Helper()
	spans, reader := tracetest.NewInMemoryExporter(), metric.NewManualReader()
	tracers := trace.NewTracerProvider(trace.WithSyncer(spans))
	observer := must.Get(Observer(tracers, metric.NewMeterProvider(metric.WithReader(reader)), func(e toolshelf.Event) string { return "https://skills.example.com/" + e.Layer }))(t)
	catalog, err := toolshelf.New(toolshelf.WithObserver(observer), toolshelf.WithSkillsFS("team", fstest.MapFS{
		"pdf/SKILL.md":        {Data: []byte("---\nname: pdf\ndescription: Reads PDF.\n---\nRead scripts/fill.py.")},
		"pdf/scripts/fill.py": {Data: []byte("print()")},
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { catalog.Close() })
	return telemetry{spans, tracers, reader, catalog}
}

func texts(attributes []attribute.KeyValue) (all []string) {
	for _, a := range attributes {
		if a.Key != "toolshelf.digest" {
			all = append(all, fmt.Sprintf("%s=%s", a.Key, a.Value.String()))
		}
	}
	slices.Sort(all)
	return all
}

func TestALoadOfASkillIsAToolExecution(t *testing.T) {
	o := newTelemetry(t)
	ctx, agent := o.tracers.Tracer("test").Start(t.Context(), "invoke_agent")
	begin := time.Now()
	must.Get(o.catalog.GetSkill(ctx, "pdf"))(t)
	must.Get(o.catalog.ReadSkillFile(ctx, "pdf", "scripts/fill.py"))(t)
	if _, err := o.catalog.GetSkill(ctx, "pfd"); err == nil {
		t.Fatal("no error")
	}
	var got [][]string
	for _, s := range o.spans.GetSpans() {
		got = append(got, append([]string{s.Name, s.Status.Code.String()}, texts(s.Attributes)...))
		if s.Parent.SpanID() != agent.SpanContext().SpanID() || s.StartTime.Before(begin) || s.EndTime.Before(s.StartTime) {
			t.Errorf("%s: the parent is %v, the time is %v to %v", s.Name, s.Parent.SpanID(), s.StartTime, s.EndTime)
		}
	}
	want := [][]string{
		{"execute_tool load_skill pdf", "Unset", "gen_ai.operation.name=execute_tool", "gen_ai.skill.name=pdf", "gen_ai.skill.source.uri=https://skills.example.com/team", "gen_ai.tool.name=load_skill"},
		{"execute_tool read_skill_resource pdf scripts/fill.py", "Unset", "gen_ai.operation.name=execute_tool", "gen_ai.skill.name=pdf", "gen_ai.skill.resource.name=scripts/fill.py",
			"gen_ai.skill.source.uri=https://skills.example.com/team", "gen_ai.tool.name=read_skill_resource"},
		{"execute_tool load_skill", "Error", "error.type=SKILL_NOT_FOUND", "gen_ai.operation.name=execute_tool", "gen_ai.tool.name=load_skill"},
	}
	must.Match(t, "result", want, got)
}

func TestTheSpanOfAToolCallGetsTheAttributes(t *testing.T) {
	o := newTelemetry(t)
	ctx, tool := o.tracers.Tracer("test").Start(t.Context(), "execute_tool get_skill")
	tool.SetAttributes(executeTool)
	must.Get(o.catalog.GetSkill(ctx, "pdf"))(t)
	tool.End()
	spans := o.spans.GetSpans()
	if len(spans) != 1 || !slices.Contains(texts(spans[0].Attributes), "gen_ai.skill.name=pdf") {
		t.Errorf("the spans are %+v", spans)
	}
}

func TestMetricsCountEventsAndLoads(t *testing.T) {
	o := newTelemetry(t)
	for _, name := range []string{"pdf", "pdf", strings.Repeat("x", 1000)} {
		_, _ = o.catalog.GetSkill(t.Context(), name)
	}
	var all metricdata.ResourceMetrics
	must.Do(t, o.reader.Collect(t.Context(), &all))
	var got []string
	for _, m := range all.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				got = append(got, fmt.Sprint(m.Name, " ", texts(p.Attributes.ToSlice()), " ", p.Value))
			}
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				got = append(got, fmt.Sprint(m.Name, " ", texts(p.Attributes.ToSlice()), " ", p.Count))
			}
		}
	}
	slices.Sort(got)
	want := []string{
		"gen_ai.execute_tool.duration [error.type=SKILL_NOT_FOUND gen_ai.tool.name=load_skill] 1",
		"gen_ai.execute_tool.duration [gen_ai.skill.name=pdf gen_ai.tool.name=load_skill] 2",
		"gen_ai.skill.loads [error.type=SKILL_NOT_FOUND] 1",
		"gen_ai.skill.loads [gen_ai.skill.name=pdf] 2",
		"toolshelf.events [error.type=SKILL_NOT_FOUND toolshelf.action=loaded toolshelf.kind=skill toolshelf.reason=] 1",
		"toolshelf.events [toolshelf.action=loaded toolshelf.kind=skill toolshelf.reason=] 2",
	}
	must.Match(t, "result", want, got)
}
