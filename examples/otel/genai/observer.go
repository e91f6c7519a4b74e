// Package genai records the events of a catalog by the semantic conventions of OpenTelemetry for
// generative AI.
package genai

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolshelf-go/toolshelf"
)

const scope = "github.com/toolshelf-go/toolshelf"

// executeTool is the attribute of the span of a tool call.
var executeTool = attribute.String("gen_ai.operation.name", "execute_tool")

// Observer returns a function for toolshelf.WithObserver. A load of a skill, and a read of a file
// of a skill, is a tool execution of the GenAI conventions: if the context has the span of a tool
// call, the function adds the attributes of the skill to the span, and otherwise makes a span. The
// function source returns the URI of the skill, or "".
func Observer(tracers trace.TracerProvider, meters metric.MeterProvider, source func(toolshelf.Event) string) (func(context.Context, toolshelf.Event), error) {
	tracer, meter := tracers.Tracer(scope), meters.Meter(scope)
	events, err := meter.Int64Counter("toolshelf.events", metric.WithUnit("{event}"), metric.WithDescription("The uses of a catalog."))
	if err != nil {
		return nil, err
	}
	loads, err := meter.Int64Counter("gen_ai.skill.loads", metric.WithUnit("{load}"), metric.WithDescription("The number of times a skill was loaded."))
	if err != nil {
		return nil, err
	}
	duration, err := meter.Float64Histogram("gen_ai.execute_tool.duration", metric.WithUnit("s"), metric.WithDescription("The duration of tool executions."))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, e toolshelf.Event) {
		var failure []attribute.KeyValue
		if e.Code != "" {
			failure = []attribute.KeyValue{attribute.String("error.type", string(e.Code))}
		}
		events.Add(ctx, 1, metric.WithAttributes(failure...), metric.WithAttributes(attribute.String("toolshelf.action", e.Action),
			attribute.String("toolshelf.kind", string(e.Kind)), attribute.String("toolshelf.reason", e.Reason)))
		tool := attribute.String("gen_ai.tool.name", "load_skill")
		switch {
		case e.Kind != toolshelf.KindSkill || !slices.Contains([]string{toolshelf.EventLoaded, toolshelf.EventRead, toolshelf.EventRefused}, e.Action):
			return
		case e.Path != "":
			tool = attribute.String("gen_ai.tool.name", "read_skill_resource")
		}
		// A name without a layer is any text of a model. Such a name makes no attribute, because
		// each value is a new series of a metric.
		attributes, name := failure, "execute_tool "+tool.Value.AsString()
		if e.Layer != "" {
			attributes, name = append(attributes, attribute.String("gen_ai.skill.name", e.Name)), name+" "+e.Name
		}
		measured := metric.WithAttributes(attributes...)
		if e.Path == "" {
			loads.Add(ctx, 1, measured)
		}
		if uri := source(e); uri != "" && e.Layer != "" {
			attributes = append(attributes, attribute.String("gen_ai.skill.source.uri", uri))
		}
		if e.Path != "" && e.Code == "" {
			attributes, name = append(attributes, attribute.String("gen_ai.skill.resource.name", e.Path)), name+" "+e.Path
		}
		if e.Digest != "" {
			attributes = append(attributes, attribute.String("toolshelf.digest", e.Digest))
		}
		if span := trace.SpanFromContext(ctx); isTool(span) {
			span.SetAttributes(attributes...)
			return
		}
		duration.Record(ctx, e.Duration.Seconds(), measured, metric.WithAttributes(tool))
		end := time.Now()
		_, span := tracer.Start(ctx, name, trace.WithTimestamp(end.Add(-e.Duration)), trace.WithAttributes(append(attributes, executeTool, tool)...))
		if e.Code != "" {
			span.SetStatus(codes.Error, string(e.Code))
		}
		span.End(trace.WithTimestamp(end))
	}, nil
}

// isTool reports whether a span is the span of a tool call.
func isTool(span trace.Span) bool {
	recorded, ok := span.(sdk.ReadOnlySpan)
	return ok && slices.Contains(recorded.Attributes(), executeTool)
}
