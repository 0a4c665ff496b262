-- Reservo: bookings and payments of a small coworking space.
-- Money is in integer cents of a euro; times are local, 'YYYY-MM-DD HH:MM'. All persons are invented.
-- A confirmed booking costs its hours times the room's hourly price; pro members pay 20 % less.
-- Two confirmed bookings (20 and 22) have not been paid yet; cancelled ones never are.

CREATE TABLE rooms (
  id           INTEGER PRIMARY KEY,
  name         TEXT    NOT NULL UNIQUE,
  capacity     INTEGER NOT NULL CHECK (capacity > 0),
  hourly_cents INTEGER NOT NULL CHECK (hourly_cents > 0)
);

CREATE TABLE members (
  id        INTEGER PRIMARY KEY,
  name      TEXT NOT NULL,
  email     TEXT NOT NULL UNIQUE,
  tier      TEXT NOT NULL CHECK (tier IN ('basic', 'pro')),
  joined_on TEXT NOT NULL
);

CREATE TABLE bookings (
  id        INTEGER PRIMARY KEY,
  room_id   INTEGER NOT NULL REFERENCES rooms (id),
  member_id INTEGER NOT NULL REFERENCES members (id),
  starts_at TEXT NOT NULL,
  ends_at   TEXT NOT NULL CHECK (ends_at > starts_at),
  status    TEXT NOT NULL CHECK (status IN ('confirmed', 'cancelled'))
);

CREATE TABLE payments (
  id           INTEGER PRIMARY KEY,
  booking_id   INTEGER NOT NULL UNIQUE REFERENCES bookings (id),
  amount_cents INTEGER NOT NULL CHECK (typeof(amount_cents) = 'integer' AND amount_cents > 0),
  method       TEXT NOT NULL CHECK (method IN ('card', 'cash', 'transfer')),
  paid_at      TEXT NOT NULL,
  note         TEXT
);

INSERT INTO rooms (id, name, capacity, hourly_cents) VALUES
  (1, 'Focus', 2, 600),
  (2, 'Studio', 4, 1200),
  (3, 'Boardroom', 10, 3000),
  (4, 'Lounge', 6, 1800),
  (5, 'Cabina', 1, 400);

INSERT INTO members (id, name, email, tier, joined_on) VALUES
  (1, 'Lucía Fernández', 'lucia.fernandez@example.com', 'pro', '2025-09-01'),
  (2, 'Mateo Rojas', 'mateo.rojas@example.com', 'basic', '2025-09-15'),
  (3, 'Valentina Gómez', 'valentina.gomez@example.com', 'pro', '2025-10-06'),
  (4, 'Diego Morales', 'diego.morales@example.com', 'basic', '2025-11-03'),
  (5, 'Camila Ortiz', 'camila.ortiz@example.com', 'basic', '2026-01-12'),
  (6, 'Íñigo Peña', 'inigo.pena@example.com', 'pro', '2026-01-19'),
  (7, 'Sofía Núñez', 'sofia.nunez@example.com', 'basic', '2026-02-02'),
  (8, 'Tomás Herrera', 'tomas.herrera@example.com', 'pro', '2026-02-23');

INSERT INTO bookings (id, room_id, member_id, starts_at, ends_at, status) VALUES
  (1, 1, 2, '2026-03-02 09:00', '2026-03-02 11:00', 'confirmed'),
  (2, 2, 1, '2026-03-02 10:00', '2026-03-02 13:00', 'confirmed'),
  (3, 3, 3, '2026-03-03 09:00', '2026-03-03 12:00', 'confirmed'),
  (4, 4, 6, '2026-03-03 16:00', '2026-03-03 18:00', 'confirmed'),
  (5, 5, 4, '2026-03-04 08:30', '2026-03-04 09:30', 'confirmed'),
  (6, 2, 5, '2026-03-04 15:00', '2026-03-04 17:00', 'cancelled'),
  (7, 1, 7, '2026-03-05 09:00', '2026-03-05 10:00', 'confirmed'),
  (8, 3, 1, '2026-03-05 14:00', '2026-03-05 18:00', 'confirmed'),
  (9, 2, 8, '2026-03-06 09:00', '2026-03-06 12:30', 'confirmed'),
  (10, 4, 3, '2026-03-09 10:00', '2026-03-09 12:00', 'confirmed'),
  (11, 1, 2, '2026-03-09 11:00', '2026-03-09 13:00', 'confirmed'),
  (12, 5, 5, '2026-03-10 12:00', '2026-03-10 13:00', 'confirmed'),
  (13, 2, 6, '2026-03-10 16:00', '2026-03-10 19:00', 'confirmed'),
  (14, 3, 8, '2026-03-11 09:00', '2026-03-11 11:00', 'cancelled'),
  (15, 3, 3, '2026-03-12 09:30', '2026-03-12 12:30', 'confirmed'),
  (16, 1, 4, '2026-03-12 15:00', '2026-03-12 16:30', 'confirmed'),
  (17, 4, 1, '2026-03-13 17:00', '2026-03-13 20:00', 'confirmed'),
  (18, 2, 2, '2026-03-16 09:00', '2026-03-16 10:00', 'confirmed'),
  (19, 5, 7, '2026-03-16 10:00', '2026-03-16 10:30', 'confirmed'),
  (20, 1, 5, '2026-03-17 16:00', '2026-03-17 18:00', 'confirmed'),
  (21, 2, 3, '2026-03-18 11:00', '2026-03-18 14:00', 'confirmed'),
  (22, 3, 6, '2026-03-19 10:00', '2026-03-19 12:00', 'confirmed'),
  (23, 4, 8, '2026-03-20 18:00', '2026-03-20 21:00', 'cancelled');

INSERT INTO payments (id, booking_id, amount_cents, method, paid_at, note) VALUES
  (1, 1, 1200, 'transfer', '2026-03-02 11:00', NULL),
  (2, 2, 2880, 'card', '2026-03-02 13:00', NULL),
  (3, 3, 7200, 'cash', '2026-03-03 12:00', 'Comité trimestral; proyector reservado'),
  (4, 4, 2880, 'card', '2026-03-03 18:00', NULL),
  (5, 5, 400, 'transfer', '2026-03-04 09:30', NULL),
  (6, 7, 600, 'card', '2026-03-05 10:00', NULL),
  (7, 8, 9600, 'cash', '2026-03-05 18:00', 'Taller de UX: 10 plazas -- con café'),
  (8, 9, 3360, 'card', '2026-03-06 12:30', NULL),
  (9, 10, 2880, 'transfer', '2026-03-09 12:00', 'Reunión de equipo'),
  (10, 11, 1200, 'card', '2026-03-09 13:00', NULL),
  (11, 12, 400, 'cash', '2026-03-10 13:00', NULL),
  (12, 13, 2880, 'card', '2026-03-10 19:00', 'Sesión de fotos'),
  (13, 15, 7200, 'transfer', '2026-03-12 12:30', NULL),
  (14, 16, 900, 'card', '2026-03-12 16:30', NULL),
  (15, 17, 4320, 'cash', '2026-03-13 20:00', 'Presentación de ''Aurora'''),
  (16, 18, 1200, 'card', '2026-03-16 10:00', NULL),
  (17, 19, 200, 'transfer', '2026-03-16 10:30', NULL),
  (18, 21, 2880, 'card', '2026-03-18 14:00', NULL);
