CREATE TABLE sailing (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    route    text           NOT NULL,
    departs  timestamptz    NOT NULL,
    capacity integer        NOT NULL CHECK (capacity > 0),
    fare     numeric(8, 2)  NOT NULL CHECK (fare >= 0),
    currency char(3)        NOT NULL DEFAULT 'EUR',
    UNIQUE (route, departs)
);

CREATE TABLE booking (
    id         uuid        PRIMARY KEY,
    sailing_id bigint      NOT NULL REFERENCES sailing (id),
    passengers integer     NOT NULL CHECK (passengers > 0),
    booked_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX booking_sailing ON booking (sailing_id);
